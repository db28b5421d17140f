#pragma once

#include <cstdint>

#include "base/time.h"
#include "core/queue/change.h"

namespace redrive::engine {

// What to do when the wall clock says that the server was away for more than a day. The clock may
// be wrong now, or may have been wrong when the last record was stamped; expiring every message
// because of that could not be undone.
enum class JumpPolicy : std::uint8_t {
  wait,    // Count the time away after a while, unless the clock is set meanwhile.
  accept,  // Count it at once.
  ignore,  // Never count it: engine time continues from the last record.
};

struct JumpOptions {
  JumpPolicy policy = JumpPolicy::wait;
  Duration wait = std::chrono::hours(1);
};

// Compares the wall clock with the steady one: at a start, for the time the server was away, and
// while it runs, for jumps. Decides how much of the time away engine time may count. Reads no
// clock.
class ClockWatch {
 public:
  // Time away up to this long is always counted.
  static constexpr Duration kUnsuspectedMax = std::chrono::hours(24);
  // A smaller difference between the clocks is drift, not a jump.
  static constexpr Duration kJumpMin = std::chrono::seconds(10);

  struct Reading {
    Timestamp wall;
    Timestamp steady;
  };
  // `last`: the stamp of the journal's last record; all zero for a new journal.
  ClockWatch(JumpOptions options, const queue::Stamp& last, Reading reading);

  // How far the wall clock is ahead of the last record; zero when it is behind.
  Duration away() const { return away_; }
  // The part of it that engine time counts from the start on: all or nothing.
  Duration counted() const { return counted_; }
  // The part that is not counted yet.
  Duration held() const { return held_; }

  struct Look {
    Duration jumped{};   // How far the wall clock was set since the last check.
    Duration counted{};  // What engine time must be moved forward by now.
  };
  Look look(Reading reading);
  // An operator confirms the time away. Returns what was held.
  Duration accept();

 private:
  const JumpOptions options_;
  Duration offset_;  // Between the clocks, at the last check.
  Duration away_{};
  Duration counted_{};
  Duration held_{};
  Timestamp held_until_;  // By the steady clock.
};

}  // namespace redrive::engine
