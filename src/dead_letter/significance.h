#pragma once

#include <cstdint>

namespace redrive::dead_letter {

// How many of the dead and of the processed have some feature. `with` is never more than `total`.
struct Contrast {
  std::uint64_t dead_with = 0;
  std::uint64_t dead_total = 0;
  std::uint64_t processed_with = 0;
  std::uint64_t processed_total = 0;
};

// By how much more of the dead than of the processed have it: from -1 to 1. Half a message of each
// kind is added, so that few messages never look as certain as many.
double smoothed_difference(const Contrast& contrast);

// The probability that at least as many of the dead would have it by chance alone, if dead and
// processed were drawn from the same (Fisher's exact test, one-sided).
double chance_of(const Contrast& contrast);

}  // namespace redrive::dead_letter
