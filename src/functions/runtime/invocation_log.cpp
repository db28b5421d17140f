#include "functions/runtime/invocation_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace redrive::runtime {
namespace {

constexpr std::size_t kHeadBytesMax = 4u << 10;
constexpr std::size_t kNoteBytesMax = 64;
constexpr std::size_t kTailBytesMax = kLogBytesMax - kHeadBytesMax - kNoteBytesMax;

Timestamp wall_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return Timestamp(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

}  // namespace

void InvocationLog::append(std::string_view text) {
  if (tail_.empty()) {
    const std::size_t head_bytes_left = kHeadBytesMax - head_.size();
    head_ += text.substr(0, head_bytes_left);
    text.remove_prefix(std::min(head_bytes_left, text.size()));
  }
  if (text.size() > kTailBytesMax) {
    left_out_ += text.size() - kTailBytesMax;
    text.remove_prefix(text.size() - kTailBytesMax);
  }
  tail_ += text;
  if (tail_.size() <= 2 * kTailBytesMax) return;
  left_out_ += tail_.size() - kTailBytesMax;
  tail_.erase(0, tail_.size() - kTailBytesMax);
}

void InvocationLog::append_line(std::string_view line) {
  const std::string& last = tail_.empty() ? head_ : tail_;
  if (!last.empty() && !last.ends_with('\n')) append("\n");
  append(line);
  append("\n");
}

std::string InvocationLog::take() {
  if (tail_.size() > kTailBytesMax) {
    left_out_ += tail_.size() - kTailBytesMax;
    tail_.erase(0, tail_.size() - kTailBytesMax);
  }
  std::string all = std::move(head_);
  if (left_out_ > 0) all += fmt::format("\n... {} bytes omitted ...\n", left_out_);
  all += tail_;
  *this = {};
  return all;
}

bool mentions_task(std::string_view text, std::string_view task_directory) {
  if (task_directory.empty()) return false;
  const std::size_t at = text.find(task_directory);
  return at != text.npos && text.substr(at + task_directory.size()).starts_with('/');
}

std::string as_on_lambda(std::string text, std::string_view task_directory) {
  if (task_directory.empty() || text.find(task_directory) == text.npos) return text;
  constexpr std::string_view kTask = "/var/task";
  std::string out;
  std::string_view rest = text;
  for (std::size_t at = rest.find(task_directory); at != rest.npos;
       at = rest.find(task_directory)) {
    const std::size_t end = at + task_directory.size();
    const bool is_path = end < rest.size() && rest[end] == '/';
    out.append(rest.substr(0, at)).append(is_path ? kTask : task_directory);
    rest.remove_prefix(end);
  }
  return out.append(rest);
}

std::string ms_text(std::chrono::microseconds time) {
  const auto hundredths = (time.count() + 5) / 10;
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

std::string start_line(std::string_view request_id, std::string_view version) {
  return fmt::format("START RequestId: {} Version: {}", request_id, version);
}

std::string report_line(std::string_view request_id, std::chrono::microseconds duration,
                        unsigned memory_mb, std::size_t memory_bytes_used) {
  return fmt::format(
      "REPORT RequestId: {}\tDuration: {} ms\tBilled Duration: {} ms\tMemory Size: {} MB\t"
      "Max Memory Used: {} MB\t",
      request_id,
      ms_text(duration),
      (duration.count() + 999) / 1000,
      memory_mb,
      memory_bytes_used >> 20);
}

std::size_t MarkFinder::mark_begun_in(std::string_view text) {
  std::size_t bytes = std::min(text.size(), kNextEventMark.size() - 1);
  while (!text.ends_with(kNextEventMark.substr(0, bytes))) --bytes;
  return bytes;
}

void FunctionRecord::add_lines(std::string_view request_id,
                               std::span<const std::string_view> texts) {
  const Timestamp now = wall_now();
  const MutexLock lock(mutex_);
  for (const std::string_view text : texts) {
    LogLine line = recycled_line_for(text.size());
    line.sequence = ++sequence_last_;
    line.wall = now;
    line.request_id = request_id;
    line.text = text;
    bytes_ += text.size();
    lines_.push_back(std::move(line));
  }
}

// Evicts old lines, reusing the memory of the last one evicted.
LogLine FunctionRecord::recycled_line_for(std::size_t bytes) {
  LogLine line;
  while (!lines_.empty() && (lines_.size() >= kLinesMax || bytes_ + bytes > kBytesMax)) {
    line = std::move(lines_.front());
    lines_.pop_front();
    bytes_ -= line.text.size();
  }
  return line;
}

void add_end(InvocationLog& log, FunctionRecord& record, std::string_view request_id,
             std::string_view report) {
  const std::string end = fmt::format("END RequestId: {}", request_id);
  const std::array<std::string_view, 2> lines = {end, report};
  record.add_lines(request_id, lines);
  for (const std::string_view line : lines) log.append_line(line);
}

void FunctionRecord::clear() {
  const MutexLock lock(mutex_);
  stats_ = {};
  lines_.clear();
  bytes_ = 0;
}

std::vector<LogLine> FunctionRecord::lines_after(std::uint64_t sequence,
                                                 std::size_t lines_max) const {
  const MutexLock lock(mutex_);
  return find_after(sequence, lines_max);
}

bool FunctionRecord::reaches(std::uint64_t sequence) const {
  const MutexLock lock(mutex_);
  return !lines_.empty() && lines_.front().sequence <= sequence + 1;
}

std::vector<LogLine> FunctionRecord::take_unkept(std::size_t lines_max) {
  const MutexLock lock(mutex_);
  auto lines = find_after(kept_last_, lines_max);
  if (!lines.empty()) kept_last_ = lines.back().sequence;
  return lines;
}

std::vector<LogLine> FunctionRecord::find_after(std::uint64_t sequence,
                                                std::size_t lines_max) const {
  const auto begin = std::ranges::upper_bound(lines_, sequence, {}, &LogLine::sequence);
  const auto count =
      std::min<std::size_t>(static_cast<std::size_t>(lines_.end() - begin), lines_max);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace redrive::runtime
