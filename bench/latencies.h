#pragma once

#include <cstddef>
#include <vector>

#include "bench/nanos.h"

namespace redrive::bench {

// Every latency of a run, kept whole: a percentile is one that really happened.
class Latencies {
 public:
  Latencies() { samples_.reserve(kReserved); }

  void add(Nanos latency) { samples_.push_back(latency); }
  std::size_t count() const { return samples_.size(); }
  // The smallest latency that at least this share (0..1) of all stayed within; zero without any.
  Nanos within(double share) const;
  Nanos max() const { return within(1.0); }

 private:
  static constexpr std::size_t kReserved = 1u << 20;  // So that a run seldom pays for growing.

  mutable std::vector<Nanos> samples_;  // In no order that means anything.
};

}  // namespace redrive::bench
