#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace redrive::journal {

// Wakes one thread. A ring without a waiter is remembered for the next wait.
//
// A condition variable would work, but the woken thread must acquire its mutex, often while the
// waker still holds it: two more system calls and two context switches per sync. Here a ring is one
// system call if the thread sleeps, and none otherwise.
class Doorbell {
 public:
  // Thread-safe. Writes before ring() are visible to the thread that it wakes.
  void ring() {
    if (state_.exchange(kRung) == kSleeping) futex(FUTEX_WAKE_PRIVATE, 1, nullptr);
  }

  // For one thread at a time. Returns after a ring, after `time`, or spuriously.
  void wait_for(std::chrono::nanoseconds time) {
    std::uint32_t quiet = kQuiet;
    if (state_.compare_exchange_strong(quiet, kSleeping)) {
      const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
      const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
      futex(FUTEX_WAIT_PRIVATE, kSleeping, &timeout);
    }
    state_.exchange(kQuiet);
  }

 private:
  static constexpr std::uint32_t kQuiet = 0;
  static constexpr std::uint32_t kRung = 1;
  static constexpr std::uint32_t kSleeping = 2;

  void futex(int operation, std::uint32_t value, const timespec* timeout) {
    static_assert(sizeof state_ == sizeof(std::uint32_t));
    ::syscall(SYS_futex, &state_, operation, value, timeout, nullptr, 0);
  }

  std::atomic<std::uint32_t> state_ = kQuiet;
};

}  // namespace redrive::journal
