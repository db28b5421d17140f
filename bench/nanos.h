#pragma once

#include <chrono>

namespace redrive::bench {

using Nanos = std::chrono::nanoseconds;

// Monotonic time, the same for every process of the machine.
inline Nanos now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

inline double seconds(Nanos time) {
  return std::chrono::duration<double>(time).count();
}

inline double microseconds(Nanos time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace redrive::bench
