#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"

namespace redrive::cli {

// Rate limiter that spreads work evenly over time. Thread-safe; mutex_ guards next_.
class Pace {
 public:
  Pace(std::optional<double> per_second, const Clock& clock)
      : per_second_(per_second), clock_(clock), next_(clock.steady()) {}

  // How long to wait before `count` more.
  Duration before(std::uint64_t count) {
    if (!per_second_ || count == 0) return Duration::zero();
    const MutexLock lock(mutex_);
    const Timestamp now = clock_.steady();
    const Timestamp start = std::max(next_, now);
    next_ = start +
            Duration(static_cast<std::int64_t>(static_cast<double>(count) * 1000.0 / *per_second_));
    return start - now;
  }

 private:
  const std::optional<double> per_second_;
  const Clock& clock_;
  Mutex mutex_;
  Timestamp next_ GUARDED_BY(mutex_);
};

}  // namespace redrive::cli
