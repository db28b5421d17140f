#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "base/time.h"
#include "metrics/history.h"

namespace redrive::metrics {

// Keeps a history over restarts, in files of one directory: minutes by day, seconds by hour.
//
//   file    = "RDRVMET1" record*
//   record  = size u32 LE, crc32c of the payload u32 LE, payload as History::encode writes it
//
// Metrics are derived: nothing is synced, a crash of the machine may take the last minutes, and
// what cannot be read is cut off, not mourned. Used by one thread.
class HistoryFiles {
 public:
  // Makes the directory when there is none.
  static Result<HistoryFiles> open(std::filesystem::path directory);

  // Reads back what is not too old. Returns how many records could not be read.
  std::size_t load(History& history, Timestamp now);
  // Appends the minutes that are over and have not been written yet; removes files that are too
  // old.
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
