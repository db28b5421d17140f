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

// Lets concurrent callers share one sync: a sync that starts after they asked serves them all, so a
// directory that gets many names at once is not synced for each of them.
class SharedSync {
 public:
  using Work = std::function<Outcome<void>()>;

  // Returns after a sync that started after this call has ended, with its result.
  Outcome<void> operator()(const Work& sync);

 private:
  std::mutex mutex_;  // Guards everything below.
  std::condition_variable ended_;
  bool running_ = false;
  std::uint64_t begun_ = 0;
  std::uint64_t done_ = 0;
  std::map<std::uint64_t, Failure> failures_;  // Of the last few syncs, by number.
};

// One SharedSync per directory.
class DirectorySyncs {
 public:
  Outcome<void> operator()(const std::filesystem::path& directory);

 private:
  std::mutex mutex_;  // Guards the map, not its values.
  std::map<std::filesystem::path, std::shared_ptr<SharedSync>> syncs_;
};

}  // namespace redrive::objects
