#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "base/mutex.h"
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
  Mutex mutex_;
  ConditionVariable ended_;
  bool running_ GUARDED_BY(mutex_) = false;
  std::uint64_t begun_ GUARDED_BY(mutex_) = 0;
  std::uint64_t done_ GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Failure> failures_
      GUARDED_BY(mutex_);  // Of the last few syncs, by number.
};

// One SharedSync per directory.
class DirectorySyncs {
 public:
  Outcome<void> operator()(const std::filesystem::path& directory);

 private:
  Mutex mutex_;  // Guards the map, not its values.
  std::map<std::filesystem::path, std::shared_ptr<SharedSync>> syncs_ GUARDED_BY(mutex_);
};

}  // namespace redrive::objects
