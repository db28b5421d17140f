#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "observe/metrics/counter.h"

namespace redrive::metrics {

// A snapshot of a histogram.
struct Distribution {
  static constexpr std::size_t kBuckets = 26;

  std::array<std::uint64_t, kBuckets> counts{};
  std::uint64_t sum = 0;

  // Upper bound of bucket i; the last bucket holds the rest.
  static constexpr std::uint64_t bound(std::size_t i) { return std::uint64_t{1} << i; }

  std::uint64_t total() const;
  void merge(const Distribution& other);
  // The quantile `part` (0 to 1), interpolated within its bucket; 0 if empty.
  double quantile(double part) const;
};

// Counts values in power-of-two buckets, from 1 to 2^25: finding the bucket is one instruction. For
// microseconds up to half a minute, milliseconds up to nine hours, or plain numbers. Thread-safe.
class Histogram {
 public:
  void record(std::uint64_t value) {
    const auto above = static_cast<std::size_t>(std::bit_width(value - (value > 0)));
    counts_[std::min(above, Distribution::kBuckets - 1)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  void add_to(Distribution& distribution) const;
  Distribution read() const;

 private:
  std::array<std::atomic<std::uint64_t>, Distribution::kBuckets> counts_{};
  std::atomic<std::uint64_t> sum_ = 0;
};

}  // namespace redrive::metrics
