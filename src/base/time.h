#pragma once

#include <chrono>
#include <cstdint>

namespace redrive {

using Duration = std::chrono::milliseconds;

// Milliseconds since 1970. Two kinds of time use it and are never compared with each other: *engine
// time* only moves forward (for visibility, delays, retention, deduplication), *wall time* is what
// people read (SentTimestamp and the like).
class Timestamp {
 public:
  constexpr Timestamp() = default;
  constexpr explicit Timestamp(std::int64_t milliseconds) : ms_(milliseconds) {}

  constexpr std::int64_t ms() const { return ms_; }
  constexpr std::int64_t seconds() const { return ms_ / 1000; }

  friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
  friend constexpr Timestamp operator+(Timestamp t, Duration d) {
    return Timestamp(t.ms_ + d.count());
  }
  friend constexpr Timestamp operator-(Timestamp t, Duration d) {
    return Timestamp(t.ms_ - d.count());
  }
  friend constexpr Duration operator-(Timestamp a, Timestamp b) { return Duration(a.ms_ - b.ms_); }

 private:
  std::int64_t ms_ = 0;
};

inline constexpr Timestamp kNever{INT64_MAX};

}  // namespace redrive
