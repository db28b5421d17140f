#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace redrive {

// Threads for what blocks, and for what is to be done at some time: files that are synced,
// endpoints that take their time, a look every second. They come when there is work for them; one
// that hangs keeps only itself busy. From any thread.
class Workers {
 public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<void()>;

  explicit Workers(std::size_t threads_max) : threads_max_(threads_max) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // As soon as a thread is free, in the order in which it is asked for. False: nothing is done
  // here any more.
  bool run(Work work) { return run_at(Clock::now(), std::move(work)); }
  // Not before `due`.
  bool run_at(Clock::time_point due, Work work);

  // Waits for what has begun. What is due and has not is done first, or forgotten; what is for
  // later is forgotten.
  enum class Rest { forget, finish };
  void stop(Rest rest = Rest::forget);

 private:
  void loop();
  Work next(std::unique_lock<std::mutex>& lock);

  const std::size_t threads_max_;
  std::mutex mutex_;  // Guards the rest.
  std::condition_variable changed_;
  std::multimap<Clock::time_point, Work> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace redrive
