#pragma once

#include <cstddef>
#include <vector>

#include "bench/nanos.h"

namespace redrive::bench {

// All latencies of a run, unaggregated: percentiles are exact.
class Latencies {
 public:
  Latencies() { samples_.reserve(kReserved); }

  void add(Nanos latency) { samples_.push_back(latency); }
  std::size_t count() const { return samples_.size(); }
  // The smallest latency that at least this share (0..1) stayed within; zero if there are none.
  Nanos within(double share) const;
  Nanos max() const { return within(1.0); }

 private:
  static constexpr std::size_t kReserved = 1u << 20;  // So that a run rarely reallocates.

  mutable std::vector<Nanos> samples_;  // Unordered.
};

}  // namespace redrive::bench
