#include "core/engine/clock_watch.h"

#include <algorithm>
#include <utility>

namespace redrive::engine {

ClockWatch::ClockWatch(JumpOptions options, const queue::Stamp& last, Reading reading)
    : options_(options),
      offset_(reading.wall - reading.steady),
      held_until_(reading.steady + options.wait) {
  if (last.now == Timestamp()) return;
  away_ = std::max(Duration::zero(), reading.wall - last.wall);
  if (away_ <= kUnsuspectedMax || options_.policy == JumpPolicy::accept) {
    counted_ = away_;
  } else if (options_.policy == JumpPolicy::wait) {
    held_ = away_;
  }
}

ClockWatch::Look ClockWatch::look(Reading reading) {
  Look look;
  const Duration offset = reading.wall - reading.steady;
  if (offset - offset_ >= kJumpMin || offset_ - offset >= kJumpMin) {
    look.jumped = offset - offset_;
    offset_ = offset;
  }
  if (held_ == Duration::zero()) return look;
  if (look.jumped != Duration::zero()) {
    // The clock was set, so its reading at the start was wrong by that much.
    held_ = std::max(Duration::zero(), held_ + look.jumped);
    held_until_ = reading.steady + options_.wait;
  }
  if (held_ <= kUnsuspectedMax || reading.steady >= held_until_) look.counted = accept();
  return look;
}

Duration ClockWatch::accept() {
  return std::exchange(held_, Duration::zero());
}

}  // namespace redrive::engine
