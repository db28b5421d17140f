#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace redrive::dispatch {

// How many invocations a poller may run concurrently: few at first, more while there is a backlog,
// fewer while they fail, and few again when idle.
class Concurrency {
 public:
  static constexpr unsigned kFirst = 5;
  static constexpr unsigned kStep = 5;  // Per second: 300 a minute.

  struct Range {
    unsigned first = kFirst;
    unsigned max = 1;
  };
  explicit Concurrency(Range range) { adopt(range); }

  // Why fewer run than the range allows.
  enum class Slowed : std::uint8_t { no, by_errors, by_throttling, by_process_limit };

  unsigned limit() const { return std::min(scaled_, slowed_); }
  unsigned max() const { return range_.max; }
  Slowed slowed() const { return slowed_ < scaled_ ? cause_ : Slowed::no; }

  // Changes the range.
  void adopt(Range range) {
    range_ = {.first = std::clamp(range.first, 1u, range.max), .max = range.max};
    scaled_ = std::clamp(scaled_, range_.first, range_.max);
    slowed_ = std::min(slowed_, range_.max);
  }
  // All were in use, and there is more to do.
  void saturated(Timestamp now) {
    if (now - grown_at_ < std::chrono::seconds(1)) return;
    grown_at_ = now;
    scaled_ = std::min(scaled_ + kStep, range_.max);
  }
  void idle() {
    scaled_ = range_.first;
    slowed_ = range_.max;
  }
  void failed() { slow_down(limit() - std::min(limit(), (limit() + 3) / 4), Slowed::by_errors); }
  void throttled() { slow_down(limit() / 2, Slowed::by_throttling); }
  // A batch had to wait for a process. Decremented one at a time: the limit settles at what really
  // runs.
  void crowded() { slow_down(limit() - 1, Slowed::by_process_limit); }
  void succeeded() { slowed_ = std::min(slowed_ + 1, range_.max); }

 private:
  void slow_down(unsigned to, Slowed cause) {
    slowed_ = std::max(1u, to);
    cause_ = cause;
  }

  Range range_;
  Slowed cause_ = Slowed::no;
  unsigned scaled_ = 0;
  unsigned slowed_ = UINT32_MAX;
  Timestamp grown_at_;
};

}  // namespace redrive::dispatch
