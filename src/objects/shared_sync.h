#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "objects/failure.h"

namespace redrive::objects {

// Many who want the same thing synced share a sync: one that begins after they asked serves them
// all, so that a directory which gets many names at once is not synced for each of them.
class SharedSync {
 public:
  using Work = std::function<Outcome<void>()>;

  // Returns when a sync that began after this call has ended, with how it ended.
  Outcome<void> operator()(const Work& sync);

 private:
  std::mutex mutex_;  // Guards everything below.
  std::condition_variable ended_;
  bool running_ = false;
  std::uint64_t begun_ = 0;
  std::uint64_t done_ = 0;
  std::map<std::uint64_t, Failure> failures_;  // Of the last few syncs, by their numbers.
};

// One for each directory.
class DirectorySyncs {
 public:
  Outcome<void> operator()(const std::filesystem::path& directory);

 private:
  std::mutex mutex_;  // Guards the table, not what is in it.
  std::map<std::filesystem::path, std::shared_ptr<SharedSync>> syncs_;
};

}  // namespace redrive::objects
