#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace redrive::dispatch {

// Threads for what blocks: files that are synced, endpoints that take their time. They come when
// there is work for them; one that hangs keeps only itself busy.
class Workers {
 public:
  explicit Workers(std::size_t threads_max) : threads_max_(threads_max) {}
  ~Workers() { stop(); }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void run(std::function<void()> work);
  // Waits for what has begun; what has not is forgotten.
  void stop();

 private:
  void loop();

  const std::size_t threads_max_;
  std::mutex mutex_;  // Guards the rest.
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace redrive::dispatch
