#include "base/clock.h"

#include <time.h>

namespace redrive {
namespace {

Timestamp read_clock(clockid_t id) {
  timespec now;
  clock_gettime(id, &now);
  return Timestamp(static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000);
}

}  // namespace

Timestamp SystemClock::steady() const {
  return read_clock(CLOCK_BOOTTIME);
}
Timestamp SystemClock::wall() const {
  return read_clock(CLOCK_REALTIME);
}

}  // namespace redrive
