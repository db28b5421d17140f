#include "sim/trace.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "base/digest.h"
#include "base/text.h"

namespace redrive::sim {
namespace {

constexpr std::string_view kSeed = "seed ";

std::string step_line(const TracedStep& step) {
  std::string line = step.name + ":";
  for (const Draw& draw : step.draws) line += fmt::format(" {}/{}", draw.value, draw.bound);
  return line;
}

std::unexpected<Error> unreadable(std::string_view line) {
  return fail(ErrorCode::invalid_parameter_value, fmt::format("not a line of a trace: {}", line));
}

Result<Draw> read_draw(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return unreadable(text);
  const auto value = parse_int<std::uint64_t>(text.substr(0, slash));
  const auto bound = parse_int<std::uint64_t>(text.substr(slash + 1));
  if (!value || !bound || *value >= *bound) return unreadable(text);
  return Draw{*value, *bound};
}

Result<TracedStep> read_step(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return unreadable(line);
  TracedStep step{.name = std::string(line.substr(0, colon))};
  for (const auto& word : split(line.substr(colon + 1), ' ')) {
    if (!word.empty()) step.draws.push_back(TRY(read_draw(word)));
  }
  return step;
}

Result<void> read_line(std::string_view line, Trace& trace) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (line.empty()) return {};
  if (line.starts_with('#')) {
    line.remove_prefix(std::min(line.find_first_not_of("# "), line.size()));
    auto& comments = trace.steps.empty() ? trace.remarks : trace.steps.back().notes;
    comments.emplace_back(line);
    return {};
  }
  if (!line.starts_with(kSeed)) {
    trace.steps.push_back(TRY(read_step(line)));
    return {};
  }
  const auto seed = parse_int<std::uint64_t>(line.substr(kSeed.size()));
  if (!seed || !trace.steps.empty()) return unreadable(line);
  trace.seed = *seed;
  return {};
}

}  // namespace

std::uint64_t Trace::seed_of(const TracedStep& step) const {
  return seed ^ (std::uint64_t{crc32c(step_line(step))} << 16);
}

std::string write_trace(const Trace& trace) {
  std::string out;
  for (const std::string& remark : trace.remarks) out += fmt::format("# {}\n", remark);
  out += fmt::format("{}{}\n", kSeed, trace.seed);
  for (const TracedStep& step : trace.steps) {
    out += step_line(step) + "\n";
    for (const std::string& note : step.notes) out += fmt::format("  # {}\n", note);
  }
  return out;
}

Result<Trace> read_trace(std::string_view text) {
  Trace trace;
  for (const auto& line : split(text, '\n')) RETURN_IF_ERROR(read_line(line, trace));
  if (trace.steps.empty() || trace.steps.front().name != kSetup) {
    return fail(ErrorCode::invalid_parameter_value, "a trace begins with its setup");
  }
  return trace;
}

Result<Trace> load_trace(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::storage_io, fmt::format("{} cannot be read", path));
  auto trace = read_trace(text.str());
  if (!trace) trace.error().message = fmt::format("{}: {}", path, trace.error().message);
  return trace;
}

Result<void> save_trace(const std::string& path, const Trace& trace) {
  std::ofstream file(path, std::ios::trunc);
  file << write_trace(trace);
  file.close();
  if (!file) return fail(ErrorCode::storage_io, fmt::format("{} cannot be written", path));
  return {};
}

}  // namespace redrive::sim
