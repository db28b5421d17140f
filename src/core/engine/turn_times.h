#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace redrive::engine {

// How long turns took: counts by powers of two of a microsecond. Not thread-safe: written in turn.
//
// Time is read from the processor's counter, which costs a few instructions, where a clock would
// cost one per cent of a request.
class TurnTimes {
 public:
  static constexpr std::size_t kBuckets = 24;

  // A reading of the counter.
  static std::uint64_t ticks();
  // From one reading to another.
  void add(std::uint64_t ticks_spent) {
    ticks_ += ticks_spent;
    const std::uint64_t micros = (ticks_spent * micros_per_tick_) >> 32;
    const auto bucket = static_cast<std::size_t>(std::bit_width(micros));
    ++counts_[bucket < kBuckets ? bucket : kBuckets - 1];
  }

  // Bucket i has the turns that took less than 2^i microseconds and, except for the first bucket,
  // at least half of that; the last one has all longer turns.
  const std::array<std::uint64_t, kBuckets>& counts() const { return counts_; }
  double seconds() const;

 private:
  static std::uint64_t measure_ticks();

  std::uint64_t micros_per_tick_ = measure_ticks();  // In 2^-32.
  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t ticks_ = 0;
};

#if defined(__x86_64__)
inline std::uint64_t TurnTimes::ticks() {
  return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
inline std::uint64_t TurnTimes::ticks() {
  std::uint64_t ticks = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#endif

}  // namespace redrive::engine
