#include "functions/runtime/log_files.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <optional>

#include "base/calendar.h"
#include "base/text.h"

namespace redrive::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFileBytesMax = 512u << 10;
constexpr std::uintmax_t kBytesReadMax = 2 * kFileBytesMax;
constexpr std::uintmax_t kTailBytes = 64u << 10;  // Several maximum-length lines.
constexpr std::string_view kNewerEnd = ".log";
constexpr std::string_view kOlderEnd = ".log.1";

std::string text_of(std::span<const LogLine> lines) {
  std::string text;
  for (const LogLine& line : lines) {
    fmt::format_to(std::back_inserter(text),
                   "{} {} {} {}\n",
                   line.sequence,
                   format_utc(line.wall),
                   line.request_id.empty() ? "-" : line.request_id,
                   line.text);
  }
  return text;
}

// Removes and returns the text before the next space.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::optional<LogLine> line_of(std::string_view text) {
  const auto sequence = parse_int<std::uint64_t>(take_word(text));
  const auto wall = parse_utc(take_word(text));
  const std::string_view request_id = take_word(text);
  if (!sequence || !wall || request_id.empty()) return std::nullopt;
  return LogLine{.sequence = *sequence,
                 .wall = *wall,
                 .request_id = std::string(request_id == "-" ? "" : request_id),
                 .text = std::string(text)};
}

std::string bytes_of(const fs::path& path, std::uintmax_t bytes_max = kBytesReadMax) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return {};
  std::ifstream file(path, std::ios::binary);
  if (size > bytes_max) file.seekg(static_cast<std::streamoff>(size - bytes_max));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Skips lines that cannot be parsed.
template <class Tell>
void for_each_line(std::string_view bytes, Tell tell) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\n'), bytes.size());
    if (auto line = line_of(bytes.substr(0, end))) tell(*std::move(line));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
}

}  // namespace

fs::path LogFiles::newer(const std::string& arn) const {
  return directory_ / (percent_encode(arn, false) + std::string(kNewerEnd));
}

fs::path LogFiles::older(const std::string& arn) const {
  return directory_ / (percent_encode(arn, false) + std::string(kOlderEnd));
}

void LogFiles::append(const std::string& arn, std::span<const LogLine> lines) {
  if (!is_used() || lines.empty()) return;
  const std::string text = text_of(lines);
  const MutexLock lock(mutex_);
  std::error_code ignored;
  if (fs::create_directories(directory_, ignored)) {
    fs::permissions(directory_, fs::perms::owner_all, ignored);
  }
  const fs::path path = newer(arn);
  const std::uintmax_t size = fs::exists(path, ignored) ? fs::file_size(path, ignored) : 0;
  if (size > 0 && size + text.size() > kFileBytesMax) fs::rename(path, older(arn), ignored);
  std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

std::vector<LogLine> LogFiles::lines_after(const std::string& arn, std::uint64_t sequence,
                                           std::size_t lines_max) const {
  std::vector<LogLine> lines;
  if (!is_used()) return lines;
  std::string bytes;
  {
    const MutexLock lock(mutex_);
    bytes = bytes_of(older(arn)) + bytes_of(newer(arn));
  }
  for_each_line(bytes, [&](LogLine line) {
    if (line.sequence <= sequence || lines.size() >= lines_max) return;
    sequence = line.sequence;
    lines.push_back(std::move(line));
  });
  return lines;
}

std::uint64_t LogFiles::sequence_last(const std::string& arn) const {
  if (!is_used()) return 0;
  const MutexLock lock(mutex_);
  for (const fs::path& path : {newer(arn), older(arn)}) {
    std::uint64_t last = 0;
    for_each_line(bytes_of(path, kTailBytes), [&](LogLine line) { last = line.sequence; });
    if (last > 0) return last;
  }
  return 0;
}

void LogFiles::remove(const std::string& arn) {
  if (!is_used()) return;
  const MutexLock lock(mutex_);
  std::error_code ignored;
  fs::remove(newer(arn), ignored);
  fs::remove(older(arn), ignored);
}

void LogFiles::keep_only(const std::set<std::string>& arns) {
  if (!is_used()) return;
  std::set<fs::path> kept;
  for (const std::string& arn : arns) kept.insert({newer(arn), older(arn)});
  const MutexLock lock(mutex_);
  std::error_code ignored;
  for (fs::directory_iterator at(directory_, ignored), end; at != end; at.increment(ignored)) {
    if (!kept.contains(at->path())) fs::remove(at->path(), ignored);
  }
}

}  // namespace redrive::runtime
