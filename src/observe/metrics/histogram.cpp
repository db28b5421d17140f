#include "observe/metrics/histogram.h"

#include <numeric>

namespace redrive::metrics {

std::uint64_t Distribution::total() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void Distribution::merge(const Distribution& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts[i] += other.counts[i];
  sum += other.sum;
}

double Distribution::quantile(double part) const {
  const double wanted = part * static_cast<double>(total());
  double below = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    const auto here = static_cast<double>(counts[i]);
    if (here > 0 && below + here >= wanted) {
      const double from = i == 0 ? 0 : static_cast<double>(bound(i - 1));
      return from + (static_cast<double>(bound(i)) - from) * (wanted - below) / here;
    }
    below += here;
  }
  return 0;
}

void Histogram::add_to(Distribution& distribution) const {
  for (std::size_t i = 0; i < Distribution::kBuckets; ++i) {
    distribution.counts[i] += counts_[i].load(std::memory_order_relaxed);
  }
  distribution.sum += sum_.load(std::memory_order_relaxed);
}

Distribution Histogram::read() const {
  Distribution distribution;
  add_to(distribution);
  return distribution;
}

}  // namespace redrive::metrics
