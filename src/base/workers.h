#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace redrive {

// A thread pool for blocking and delayed work: syncing files, slow endpoints, periodic checks.
// Threads are created on demand, and a task that hangs blocks only its own thread. Thread-safe.
class Workers {
 public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<void()>;

  explicit Workers(std::size_t threads_max) : threads_max_(threads_max) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Runs `work` as soon as a thread is free, in the order of the calls. Returns false if the pool
  // is stopping.
  bool run(Work work) { return run_at(Clock::now(), std::move(work)); }
  // Runs `work` no earlier than `due`.
  bool run_at(Clock::time_point due, Work work);

  // Waits for running tasks. Tasks that are due are run first or dropped, according to `rest`;
  // tasks for later are dropped.
  enum class Rest { forget, finish };
  void stop(Rest rest = Rest::forget);

 private:
  void loop();
  Work next() REQUIRES(mutex_);

  const std::size_t threads_max_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::multimap<Clock::time_point, Work> waiting_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace redrive
