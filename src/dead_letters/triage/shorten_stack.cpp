#include "dead_letters/triage/shorten_stack.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "dead_letters/triage/characters.h"

namespace redrive::triage {
namespace {

constexpr std::size_t kErrorsKept = 6;
constexpr std::size_t kLineBytesKept = 512;
constexpr std::string_view kLeftOut = "    ...\n";

bool begins_error(std::string_view line) {
  const std::string_view text = trim(line);
  for (const std::string_view begin : {"Caused by: ",
                                       "[cause]: ",
                                       "During handling of the above exception",
                                       "The above exception was the direct cause",
                                       "--- End of inner exception stack trace"}) {
    if (text.starts_with(begin)) return true;
  }
  return false;
}

bool is_python_frame(std::string_view line) {
  return trim(line).starts_with("File \"");
}

bool is_frame(std::string_view line) {
  return is_python_frame(line) || trim(line).starts_with("at ");
}

using Lines = std::vector<std::string_view>;

std::size_t bytes_of(const Lines& lines) {
  std::size_t bytes = 0;
  for (const std::string_view line : lines) bytes += std::min(line.size(), kLineBytesKept) + 1;
  return bytes;
}

void append(std::string& out, std::string_view line) {
  out.append(utf8_prefix(line, kLineBytesKept)).append("\n");
}

// The header, and as many lines as fit from one or the other end.
std::string shorten_error(const Lines& lines, std::size_t bytes_left, bool innermost_last) {
  std::string out;
  if (bytes_of(lines) <= bytes_left) {
    for (const std::string_view line : lines) append(out, line);
    return out;
  }
  const auto first = std::ranges::find_if(lines, is_frame);
  for (auto line = lines.begin(); line != first && out.size() < bytes_left / 2; ++line)
    append(out, *line);
  bytes_left -= std::min(bytes_left, out.size() + kLeftOut.size());
  Lines kept(first, lines.end());
  const auto size_of = [](std::string_view line) {
    return std::min(line.size(), kLineBytesKept) + 1;
  };
  std::size_t bytes = bytes_of(kept);
  if (innermost_last) {
    auto begin = kept.begin();
    while (begin != kept.end() && (bytes > bytes_left || !is_frame(*begin)))
      bytes -= size_of(*begin++);
    out += kLeftOut;
    for (; begin != kept.end(); ++begin) append(out, *begin);
    return out;
  }
  while (!kept.empty() && bytes > bytes_left) {
    bytes -= size_of(kept.back());
    kept.pop_back();
  }
  for (const std::string_view line : kept) append(out, line);
  return out += kLeftOut;
}

std::vector<Lines> errors_of(std::string_view text) {
  std::vector<Lines> errors(1);
  for (const std::string_view line : split(text, '\n')) {
    if (begins_error(line) && !errors.back().empty()) errors.emplace_back();
    errors.back().push_back(line);
  }
  if (errors.size() > kErrorsKept) {
    const auto excess = static_cast<std::ptrdiff_t>(errors.size() - kErrorsKept);
    errors.erase(errors.begin() + 1, errors.begin() + 1 + excess);
  }
  return errors;
}

// Space that one error does not need is given to the others.
std::vector<std::size_t> divide(const std::vector<Lines>& errors, std::size_t bytes_max) {
  std::vector<std::size_t> order(errors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return bytes_of(errors[i]); });
  std::vector<std::size_t> shares(errors.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t share = bytes_max / (order.size() - i);
    shares[order[i]] = std::min(share, bytes_of(errors[order[i]]));
    bytes_max -= shares[order[i]];
  }
  return shares;
}

}  // namespace

std::string shorten_stack(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return cut(text, bytes_max);
  text = text.substr(0, 64 * bytes_max);
  const std::vector<Lines> errors = errors_of(text);
  const bool innermost_last = std::ranges::any_of(
      errors, [](const Lines& e) { return std::ranges::any_of(e, is_python_frame); });
  if (errors.size() == 1 && !innermost_last) return cut(text, bytes_max);
  const std::vector<std::size_t> shares = divide(errors, bytes_max);
  std::string out;
  for (std::size_t i = 0; i < errors.size(); ++i)
    out += shorten_error(errors[i], shares[i], innermost_last);
  while (out.ends_with('\n')) out.pop_back();
  return cut(out, bytes_max);
}

}  // namespace redrive::triage
