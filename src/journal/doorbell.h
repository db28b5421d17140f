#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace redrive::journal {

// Wakes one thread. A ring that nobody waits for is kept for the next wait.
//
// A condition variable would do, at the price of its mutex: whoever is woken takes it before it may
// go on, often from the waker who still holds it, and that costs two more system calls and two
// switches between threads for each sync. Here a ring is one system call when the thread sleeps,
// and none when it does not.
class Doorbell {
 public:
  // From any thread. What was written before is seen by whoever the ring ends a wait for.
  void ring() {
    if (state_.exchange(kRung) == kSleeping) futex(FUTEX_WAKE_PRIVATE, 1, nullptr);
  }

  // For one thread at a time. Ends at a ring, or when the time is over, or now and then for no
  // reason.
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
