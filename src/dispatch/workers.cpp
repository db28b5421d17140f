#include "dispatch/workers.h"

#include <utility>

namespace redrive::dispatch {

void Workers::run(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  if (stopping_) return;
  waiting_.push_back(std::move(work));
  if (waiting_.size() > idle_ && threads_.size() < threads_max_) {
    threads_.emplace_back([this] { loop(); });
  } else {
    changed_.notify_one();
  }
}

void Workers::stop() {
  std::deque<std::function<void()>> forgotten;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    forgotten.swap(waiting_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void Workers::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    --idle_;
    if (stopping_) return;
    auto work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = {};
    lock.lock();
  }
}

}  // namespace redrive::dispatch
