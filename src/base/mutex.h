#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/thread_annotations.h"

namespace redrive {

// std::mutex for the thread safety analysis of clang: see base/thread_annotations.h.
class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class ConditionVariable;
  std::mutex mutex_;
};

// Holds a mutex while it exists.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// The same, and can let go of the mutex earlier or for a while.
class SCOPED_CAPABILITY UniqueMutexLock {
 public:
  explicit UniqueMutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~UniqueMutexLock() RELEASE() {
    if (held_) mutex_.unlock();
  }
  UniqueMutexLock(const UniqueMutexLock&) = delete;
  UniqueMutexLock& operator=(const UniqueMutexLock&) = delete;

  void lock() ACQUIRE() {
    mutex_.lock();
    held_ = true;
  }
  void unlock() RELEASE() {
    held_ = false;
    mutex_.unlock();
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

// std::condition_variable for a Mutex, which the caller holds; it is free while the call waits.
// Conditions are lambdas such as `[this]() REQUIRES(mutex_) { return stopping_; }`.
class ConditionVariable {
 public:
  void notify_one() { condition_.notify_one(); }
  void notify_all() { condition_.notify_all(); }

  void wait(Mutex& mutex) REQUIRES(mutex) {
    Adopted lock(mutex);
    condition_.wait(lock.adopted);
  }
  // The analysis cannot know that the mutex of the condition is this one.
  template <class Fulfilled>
  void wait(Mutex& mutex, Fulfilled fulfilled) REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    condition_.wait(lock.adopted, fulfilled);
  }
  template <class Clock, class Span>
  void wait_until(Mutex& mutex, std::chrono::time_point<Clock, Span> time) REQUIRES(mutex) {
    Adopted lock(mutex);
    condition_.wait_until(lock.adopted, time);
  }
  // False: the time is over and the condition is not fulfilled.
  template <class Clock, class Span, class Fulfilled>
  bool wait_until(Mutex& mutex, std::chrono::time_point<Clock, Span> time, Fulfilled fulfilled)
      REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    return condition_.wait_until(lock.adopted, time, fulfilled);
  }
  template <class Number, class Period, class Fulfilled>
  bool wait_for(Mutex& mutex, std::chrono::duration<Number, Period> time, Fulfilled fulfilled)
      REQUIRES(mutex) NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    return condition_.wait_for(lock.adopted, time, fulfilled);
  }

 private:
  // The caller's lock as std::condition_variable wants it. The caller keeps it, whatever is thrown.
  struct Adopted {
    explicit Adopted(Mutex& mutex) : adopted(mutex.mutex_, std::adopt_lock) {}
    ~Adopted() { adopted.release(); }
    std::unique_lock<std::mutex> adopted;
  };
  std::condition_variable condition_;
};

}  // namespace redrive
