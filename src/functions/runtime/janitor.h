#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

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

  std::mutex mutex_;  // Guards the next two.
  std::queue<std::function<void()>> chores_;
  bool ending_ = false;
  std::condition_variable asked_;
  std::thread thread_;
};

}  // namespace redrive::runtime
