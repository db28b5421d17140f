#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace redrive {

// The only door through which time enters. The engine asks; everything below it is told.
class Clock {
 public:
  virtual ~Clock() = default;
  // Runs forward at the pace of real time, also while the machine sleeps; its zero means nothing.
  virtual Timestamp steady() const = 0;
  // What the wall says. It may jump in either direction.
  virtual Timestamp wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  Timestamp steady() const override;
  Timestamp wall() const override;
};

// Time that moves when told to, for one thread: tests, the simulator.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = Timestamp(1'700'000'000'000))
      : steady_(start), wall_(start) {}

  Timestamp steady() const override { return steady_; }
  Timestamp wall() const override { return wall_; }

  void advance(Duration by) {
    steady_ = steady_ + by;
    wall_ = wall_ + by;
  }
  void jump_wall(Duration by) { wall_ = wall_ + by; }

 private:
  Timestamp steady_;
  Timestamp wall_;
};

// The clock of `--virtual-clock`: stands still until it is moved. Any thread may read it.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Timestamp start) : now_ms_(start.ms()) {}

  Timestamp steady() const override { return Timestamp(now_ms_.load()); }
  Timestamp wall() const override { return Timestamp(now_ms_.load()); }

  // A reader of both hands could see one of them moved and the other not: see engine::TimeTravel.
  void advance(Duration by) { now_ms_.fetch_add(by.count()); }

 private:
  std::atomic<std::int64_t> now_ms_;
};

}  // namespace redrive
