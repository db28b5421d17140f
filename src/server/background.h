#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace redrive::server {

// A thread for what nobody should wait for: something to be done every second, and errands in
// between.
class Background {
 public:
  explicit Background(std::function<void()> every_second);
  ~Background();  // What was posted and not begun is forgotten.
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  void post(std::function<void()> errand);

 private:
  void run();

  std::function<void()> every_second_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // Guarded by mutex_, like the next.
  std::deque<std::function<void()>> errands_;
  std::thread thread_;
};

}  // namespace redrive::server
