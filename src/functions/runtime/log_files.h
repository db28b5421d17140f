#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "functions/runtime/invoker.h"

namespace redrive::runtime {

// Function logs kept across restarts: two files per function; when the newer is full, it replaces
// the older. A line is
//
//   sequence, space, time as in 2026-01-31T23:59:59.000Z, space, request id or -, space, text
//
// so it is human-readable. Logs are best effort: nothing is synced, a crash loses the last seconds,
// and I/O errors are ignored. Thread-safe.
class LogFiles {
 public:
  // An empty directory disables it.
  explicit LogFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  bool is_used() const { return !directory_.empty(); }
  void append(const std::string& arn, std::span<const LogLine> lines);
  // Lines after that sequence number, oldest first.
  std::vector<LogLine> lines_after(const std::string& arn, std::uint64_t sequence,
                                   std::size_t lines_max) const;
  // Sequence of the newest line; 0 if there is none.
  std::uint64_t sequence_last(const std::string& arn) const;
  void remove(const std::string& arn);
  // Removes the logs of all other functions, which no longer exist.
  void keep_only(const std::set<std::string>& arns);

 private:
  std::filesystem::path newer(const std::string& arn) const;
  std::filesystem::path older(const std::string& arn) const;

  const std::filesystem::path directory_;
  mutable Mutex mutex_;  // Excludes readers while the files are rotated.
};

}  // namespace redrive::runtime
