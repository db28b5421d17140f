#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/invoker.h"

namespace redrive::runtime {

// What functions wrote, kept over restarts: two files for each function, of which the older is
// replaced when the newer is full. A line is
//
//   sequence, space, time as in 2026-01-31T23:59:59.000Z, space, request id or -, space, text
//
// so that people can read it, too. Logs are derived: nothing is synced, a crash takes the last
// seconds, and what cannot be read or written is passed over. From any thread.
class LogFiles {
 public:
  // Empty: nothing is kept.
  explicit LogFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  bool is_used() const { return !directory_.empty(); }
  void append(const std::string& arn, std::span<const LogLine> lines);
  // Lines after that sequence number, oldest first.
  std::vector<LogLine> lines_after(const std::string& arn, std::uint64_t sequence,
                                   std::size_t lines_max) const;
  // Of the newest line; 0 when there is none.
  std::uint64_t sequence_last(const std::string& arn) const;
  void remove(const std::string& arn);
  // Removes the logs of all others: their functions are gone.
  void keep_only(const std::set<std::string>& arns);

 private:
  std::filesystem::path newer(const std::string& arn) const;
  std::filesystem::path older(const std::string& arn) const;

  const std::filesystem::path directory_;
  mutable std::mutex mutex_;  // One file takes the other's place while nobody reads.
};

}  // namespace redrive::runtime
