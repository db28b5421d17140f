#include "base/mutex.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace redrive {
namespace {

using namespace std::chrono_literals;

bool is_free(Mutex& mutex) {
  return std::async(std::launch::async,
                    [&mutex] {
                      if (!mutex.try_lock()) return false;
                      mutex.unlock();
                      return true;
                    })
      .get();
}

TEST(MutexLock, HoldsTheMutexWhileItExists) {
  Mutex mutex;
  {
    const MutexLock lock(mutex);
    EXPECT_FALSE(is_free(mutex));
  }
  EXPECT_TRUE(is_free(mutex));
}

TEST(UniqueMutexLock, CanLetGoForAWhile) {
  Mutex mutex;
  {
    UniqueMutexLock lock(mutex);
    lock.unlock();
    EXPECT_TRUE(is_free(mutex));
    lock.lock();
    EXPECT_FALSE(is_free(mutex));
    lock.unlock();
  }
  EXPECT_TRUE(is_free(mutex));
}

class Turnstile {
 public:
  // True: opened. False: the time is over.
  bool pass(std::chrono::milliseconds time) {
    const MutexLock lock(mutex_);
    const bool opened =
        changed_.wait_for(mutex_, time, [this]() REQUIRES(mutex_) { return open_; });
    EXPECT_FALSE(is_free(mutex_)) << "waiting gave the mutex away";
    return opened;
  }
  void wait() {
    const MutexLock lock(mutex_);
    changed_.wait(mutex_, [this]() REQUIRES(mutex_) { return open_; });
    EXPECT_FALSE(is_free(mutex_)) << "waiting gave the mutex away";
  }
  void open() {
    {
      const MutexLock lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  bool open_ GUARDED_BY(mutex_) = false;
};

TEST(ConditionVariable, WaitsUntilTheConditionIsFulfilled) {
  Turnstile turnstile;
  std::jthread opener([&] { turnstile.open(); });
  turnstile.wait();
  EXPECT_TRUE(turnstile.pass(0ms));
}

TEST(ConditionVariable, GivesUpWhenTheTimeIsOver) {
  Turnstile turnstile;
  EXPECT_FALSE(turnstile.pass(1ms));
}

}  // namespace
}  // namespace redrive
