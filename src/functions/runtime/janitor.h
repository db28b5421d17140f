#pragma once

#include <functional>
#include <queue>
#include <thread>

#include "base/mutex.h"

namespace redrive::runtime {

// Runs slow cleanup (searching all processes, removing large directories) on its own thread.
// Finishes everything requested before it is destroyed.
class Janitor {
 public:
  Janitor();
  ~Janitor();
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

  void ask(std::function<void()> chore);

 private:
  void run();

  Mutex mutex_;
  std::queue<std::function<void()>> chores_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
  ConditionVariable asked_;
  std::thread thread_;
};

}  // namespace redrive::runtime
