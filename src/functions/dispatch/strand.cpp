#include "functions/dispatch/strand.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redrive::dispatch {

namespace {

constexpr std::chrono::microseconds kPatience{1'000};
constexpr std::size_t kCompany = 16;

}  // namespace

Strand::Strand(Mode mode, Work round_ended) : mode_(mode), round_ended_(std::move(round_ended)) {
  if (mode_ == Mode::thread) thread_ = std::thread([this] { run(); });
}

Strand::~Strand() {
  stop();
}

void Strand::post(Work work) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    ready_.push_back(std::move(work));
    const bool looks = ready_.size() > 1 && !patience_;  // The running thread will check again.
    patience_.reset();
    if (looks) return;
  }
  changed_.notify_one();
}

void Strand::post_lazily(Work work) {
  if (mode_ == Mode::manual) return post(std::move(work));
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    const bool first = ready_.empty() && !working_;
    ready_.push_back(std::move(work));
    if (first) patience_ = Clock::now() + kPatience;
    const bool enough = patience_ && ready_.size() >= kCompany;
    if (enough) patience_.reset();
    if (!first && !enough) return;
  }
  changed_.notify_one();
}

void Strand::after(std::chrono::milliseconds delay, Work work) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return;
    later_.emplace(now() + delay, std::move(work));
  }
  changed_.notify_one();
}

void Strand::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  // Free dropped work now: it may refer to objects that are about to be destroyed.
  std::deque<Work> ready;
  std::multimap<Clock::time_point, Work> later;
  MutexLock lock(mutex_);
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

bool Strand::is_patient() {
  const auto now = Clock::now();
  const bool due = !later_.empty() && later_.begin()->first <= now;
  if (patience_ && (*patience_ <= now || due)) patience_.reset();
  return patience_.has_value();
}

void Strand::run() {
  UniqueMutexLock lock(mutex_);
  while (!stopping_) {
    if (is_patient()) {
      changed_.wait_until(
          mutex_, later_.empty() ? *patience_ : std::min(*patience_, later_.begin()->first));
    } else if (Work work = next()) {
      working_ = true;
      lock.unlock();
      work();
      work = {};
      lock.lock();
      if (ready_.empty() && round_ended_) {
        lock.unlock();
        round_ended_();
        lock.lock();
      }
      working_ = false;
    } else if (later_.empty()) {
      changed_.wait(mutex_);
    } else {
      changed_.wait_until(mutex_, later_.begin()->first);
    }
  }
}

void Strand::drain() {
  assert(mode_ == Mode::manual);
  UniqueMutexLock lock(mutex_);
  while (Work work = next()) {
    lock.unlock();
    work();
    work = {};
    lock.lock();
  }
}

void Strand::pass(std::chrono::milliseconds time) {
  drain();
  UniqueMutexLock lock(mutex_);
  const Clock::time_point end = manual_now_ + time;
  while (!later_.empty() && later_.begin()->first <= end) {
    manual_now_ = later_.begin()->first;
    lock.unlock();
    drain();
    lock.lock();
  }
  manual_now_ = end;
}

}  // namespace redrive::dispatch
