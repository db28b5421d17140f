#include "core/engine/turn_times.h"

#include <algorithm>
#include <chrono>

namespace redrive::engine {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::microseconds kMeasuredFor{200};

std::uint64_t micros_per_tick_once() {
  const auto begin = Steady::now();
  const std::uint64_t first = TurnTimes::ticks();
  while (Steady::now() - begin < kMeasuredFor) {
  }
  const std::chrono::duration<double, std::micro> spent = Steady::now() - begin;
  const std::uint64_t ticks = std::max<std::uint64_t>(TurnTimes::ticks() - first, 1);
  return static_cast<std::uint64_t>(spent.count() / static_cast<double>(ticks) * 0x1p32);
}

}  // namespace

#if !defined(__x86_64__) && !defined(__aarch64__)
std::uint64_t TurnTimes::ticks() {
  return static_cast<std::uint64_t>(Steady::now().time_since_epoch().count());
}
#endif

std::uint64_t TurnTimes::measure_ticks() {
  static const std::uint64_t measured = micros_per_tick_once();
  return measured;
}

double TurnTimes::seconds() const {
  return static_cast<double>(ticks_) * static_cast<double>(micros_per_tick_) / 0x1p32 / 1e6;
}

}  // namespace redrive::engine
