#include "dispatch/strand.h"

#include <cassert>
#include <utility>

namespace redrive::dispatch {

Strand::Strand(Mode mode, Work round_ended) : mode_(mode), round_ended_(std::move(round_ended)) {
  if (mode_ == Mode::thread) thread_ = std::thread([this] { run(); });
}

Strand::~Strand() {
  stop();
}

void Strand::post(Work work) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    ready_.push_back(std::move(work));
    if (ready_.size() > 1) return;  // Whoever works there will look again.
  }
  changed_.notify_one();
}

void Strand::after(std::chrono::milliseconds delay, Work work) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    later_.emplace(now() + delay, std::move(work));
  }
  changed_.notify_one();
}

void Strand::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  // What was never done holds on to things that are about to go.
  std::deque<Work> ready;
  std::multimap<Clock::time_point, Work> later;
  std::lock_guard lock(mutex_);
  ready.swap(ready_);
  later.swap(later_);
}

void Strand::finish(const Work& wait) {
  if (mode_ == Mode::thread) {
    wait();
  } else {
    drain();
  }
  stop();
}

Strand::Clock::time_point Strand::now() const {
  return mode_ == Mode::manual ? manual_now_ : Clock::now();
}

Strand::Work Strand::next() {
  while (!later_.empty() && later_.begin()->first <= now()) {
    ready_.push_back(std::move(later_.begin()->second));
    later_.erase(later_.begin());
  }
  if (ready_.empty()) return {};
  Work work = std::move(ready_.front());
  ready_.pop_front();
  return work;
}

void Strand::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (Work work = next()) {
      lock.unlock();
      work();
      work = {};
      lock.lock();
      if (ready_.empty() && round_ended_) {
        lock.unlock();
        round_ended_();
        lock.lock();
      }
    } else if (later_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, later_.begin()->first);
    }
  }
}

void Strand::drain() {
  assert(mode_ == Mode::manual);
  std::unique_lock lock(mutex_);
  while (Work work = next()) {
    lock.unlock();
    work();
    work = {};
    lock.lock();
  }
}

void Strand::pass(std::chrono::milliseconds time) {
  drain();
  const Clock::time_point end = manual_now_ + time;
  while (!later_.empty() && later_.begin()->first <= end) {
    manual_now_ = later_.begin()->first;
    drain();
  }
  manual_now_ = end;
}

}  // namespace redrive::dispatch
