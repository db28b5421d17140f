#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "base/time.h"
#include "observe/metrics/history.h"

namespace redrive::metrics {

// Stores a history across restarts, in files of one directory: minutes by day, seconds by hour.
//
//   file    = "RDRVMET1" record*
//   record  = size u32 LE, crc32c of the payload u32 LE, payload as written by History::encode
//
// Metrics are best effort: nothing is synced, a crash of the machine may lose the last minutes, and
// unreadable parts are cut off. For one thread.
class HistoryFiles {
 public:
  // Creates the directory if it does not exist.
  static Result<HistoryFiles> open(std::filesystem::path directory);

  // Loads what is not too old. Returns the number of unreadable records.
  std::size_t load(History& history, Timestamp now);
  // Appends completed minutes that are not written yet; removes files that are too old.
  Result<void> save(const History& history, Timestamp now);

 private:
  explicit HistoryFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::filesystem::path file_for(Resolution resolution, Timestamp now) const;
  bool load_file(History& history, const std::filesystem::path& path) const;
  Result<void> append(Resolution resolution, Timestamp now, const std::string& payload) const;
  void remove_old(Timestamp now) const;

  std::filesystem::path directory_;
  std::int64_t saved_ = -1;  // Minutes before this one are written; -1: none yet.
};

}  // namespace redrive::metrics
