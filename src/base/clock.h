#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace redrive {

// The only source of time. The engine reads it; the layers below get time as a value.
class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic, also counting while the machine is suspended; its epoch is arbitrary.
  virtual Timestamp steady() const = 0;
  // Wall-clock time. May jump in either direction.
  virtual Timestamp wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  Timestamp steady() const override;
  Timestamp wall() const override;
};

// A clock moved by hand, for one thread: tests, the simulator.
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

// The clock of `--virtual-clock`: stands still until it is advanced. Thread-safe.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Timestamp start) : now_ms_(start.ms()) {}

  Timestamp steady() const override { return Timestamp(now_ms_.load()); }
  Timestamp wall() const override { return Timestamp(now_ms_.load()); }

  // A thread that reads steady() and wall() could see only one of them moved: see
  // engine::TimeTravel.
  void advance(Duration by) { now_ms_.fetch_add(by.count()); }

 private:
  std::atomic<std::int64_t> now_ms_;
};

}  // namespace redrive
