#include "bench/latencies.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace redrive::bench {

Nanos Latencies::within(double share) const {
  assert(share >= 0 && share <= 1);
  if (samples_.empty()) return Nanos::zero();
  const auto rank = static_cast<std::size_t>(std::ceil(share * double(samples_.size())));
  const auto place =
      samples_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1)) - 1;
  std::ranges::nth_element(samples_, place);
  return *place;
}

}  // namespace redrive::bench
