#include "base/workers.h"

#include <utility>

namespace redrive {

bool Workers::run_at(Clock::time_point due, Work work) {
  const MutexLock lock(mutex_);
  if (stopping_) return false;
  waiting_.emplace(due, std::move(work));
  if (waiting_.size() > idle_ && threads_.size() < threads_max_) {
    threads_.emplace_back([this] { loop(); });
  } else {
    changed_.notify_one();
  }
  return true;
}

void Workers::stop(Rest rest) {
  // Destroyed after unlocking: destroying a task may run any code.
  std::multimap<Clock::time_point, Work> forgotten;
  std::vector<std::thread> ending;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    auto later = rest == Rest::finish ? waiting_.upper_bound(Clock::now()) : waiting_.begin();
    while (later != waiting_.end()) forgotten.insert(waiting_.extract(later++));
    ending.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : ending) thread.join();
}

// Waits for the next due task; an empty function if the thread should exit.
Workers::Work Workers::next() {
  ++idle_;
  while (!stopping_) {
    if (waiting_.empty()) {
      changed_.wait(mutex_);
      continue;
    }
    const Clock::time_point due = waiting_.begin()->first;
    if (due <= Clock::now()) break;
    changed_.wait_until(mutex_, due);
  }
  --idle_;
  if (waiting_.empty()) return {};
  return std::move(waiting_.extract(waiting_.begin()).mapped());
}

void Workers::loop() {
  UniqueMutexLock lock(mutex_);
  while (Work work = next()) {
    lock.unlock();
    work();
    work = {};
    lock.lock();
  }
}

}  // namespace redrive
