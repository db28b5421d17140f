#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "functions/runtime/invoker.h"

namespace redrive::runtime {

// The log of one invocation: its start and its end, with the number of bytes omitted in between.
class InvocationLog {
 public:
  void append(std::string_view text);
  // Appends a separate line.
  void append_line(std::string_view line);
  bool has(std::string_view words) const {
    return head_.find(words) != head_.npos || tail_.find(words) != tail_.npos;
  }
  std::string take();

 private:
  std::string head_;
  std::string tail_;  // Grows to twice its limit, then is cut.
  std::size_t left_out_ = 0;
};

// Replaces paths in `task_directory` by /var/task, as on Lambda. An empty directory changes
// nothing.
std::string as_on_lambda(std::string text, std::string_view task_directory);
bool mentions_task(std::string_view text, std::string_view task_directory);

// In milliseconds, as in reports: 1234.57
std::string ms_text(std::chrono::microseconds time);
std::string start_line(std::string_view request_id, std::string_view version);
// The REPORT line, without the part for cold starts.
std::string report_line(std::string_view request_id, std::chrono::microseconds duration,
                        unsigned memory_mb, std::size_t memory_bytes_used);

// Splits output into lines as it arrives. Overlong lines are cut.
class LineSplitter {
 public:
  template <class Tell>
  void feed(std::string_view text, Tell tell) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const bool ends = end != std::string_view::npos;
      const std::string_view part = text.substr(0, end);
      text.remove_prefix(ends ? end + 1 : text.size());
      if (ends && begun_.empty()) {
        tell(part.substr(0, kLineBytesMax));
        continue;
      }
      begun_ += part.substr(0, kLineBytesMax - std::min(begun_.size(), kLineBytesMax));
      if (ends) finish(tell);
    }
  }
  template <class Tell>
  void finish(Tell tell) {
    if (!begun_.empty()) tell(std::string_view(begun_));
    begun_.clear();
  }

 private:
  static constexpr std::size_t kLineBytesMax = 8u << 10;
  std::string begun_;
};

// Written by our bootstraps when a process begins an event that was sent ahead: output before it
// belongs to the previous event.
inline constexpr std::string_view kNextEventMark{"\0redrive: next event\0", 21};

// Splits output at those markers as it arrives.
class MarkFinder {
 public:
  template <class Text, class Mark>
  void feed(std::string_view text, Text tell_text, Mark tell_mark) {
    if (held_.empty() && text.find('\0') == text.npos) return tell_text(text);
    held_ += text;
    std::string_view rest = held_;
    for (auto at = rest.find(kNextEventMark); at != rest.npos; at = rest.find(kNextEventMark)) {
      if (at > 0) tell_text(rest.substr(0, at));
      tell_mark();
      rest.remove_prefix(at + kNextEventMark.size());
    }
    const std::size_t begun = mark_begun_in(rest);
    if (rest.size() > begun) tell_text(rest.substr(0, rest.size() - begun));
    held_ = std::string(rest.substr(rest.size() - begun));
  }
  // Call at the end of the output.
  template <class Text>
  void finish(Text tell_text) {
    if (!held_.empty()) tell_text(std::string_view(held_));
    held_.clear();
  }

 private:
  // How many bytes at the end may be the start of a marker.
  static std::size_t mark_begun_in(std::string_view text);

  std::string held_;
};

// Recent log lines and statistics of one function. Thread-safe.
class FunctionRecord {
 public:
  // Continues after `sequence_last`, the last line stored by an earlier run.
  explicit FunctionRecord(std::uint64_t sequence_last = 0)
      : sequence_last_(sequence_last), kept_last_(sequence_last) {}

  void add_line(std::string_view request_id, std::string_view text) {
    add_lines(request_id, {&text, 1});
  }
  void add_lines(std::string_view request_id, std::span<const std::string_view> texts);
  std::vector<LogLine> lines_after(std::uint64_t sequence, std::size_t lines_max) const;
  // Whether all lines after `sequence` are still here.
  bool reaches(std::uint64_t sequence) const;
  // Lines not yet returned by this function, oldest first.
  std::vector<LogLine> take_unkept(std::size_t lines_max);

  // Sequence numbers continue.
  void clear();

  template <class Change>
  void update(Change change) {
    const MutexLock lock(mutex_);
    change(stats_);
  }
  FunctionStats stats() const {
    const MutexLock lock(mutex_);
    return stats_;
  }

 private:
  static constexpr std::size_t kBytesMax = 512u << 10;
  static constexpr std::size_t kLinesMax = 4096;

  LogLine recycled_line_for(std::size_t bytes) REQUIRES(mutex_);
  std::vector<LogLine> find_after(std::uint64_t sequence, std::size_t lines_max) const
      REQUIRES(mutex_);

  mutable Mutex mutex_;
  FunctionStats stats_ GUARDED_BY(mutex_);
  std::deque<LogLine> lines_ GUARDED_BY(mutex_);
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t sequence_last_ GUARDED_BY(mutex_);
  std::uint64_t kept_last_ GUARDED_BY(mutex_);
};

// Appends the last lines of an invocation to both.
void add_end(InvocationLog& log, FunctionRecord& record, std::string_view request_id,
             std::string_view report);

}  // namespace redrive::runtime
