#pragma once

#include <cstdint>

namespace redrive::triage {

// How many of the dead and of the processed have a feature. `with` is at most `total`.
struct Contrast {
  std::uint64_t dead_with = 0;
  std::uint64_t dead_total = 0;
  std::uint64_t processed_with = 0;
  std::uint64_t processed_total = 0;
};

// How much more frequent it is among the dead than among the processed: from -1 to 1. Half a
// message of each kind is added, so that few messages never look as certain as many.
double smoothed_difference(const Contrast& contrast);

// The probability that at least as many of the dead have it by chance, if dead and processed came
// from the same distribution (Fisher's exact test, one-sided).
double chance_of(const Contrast& contrast);

}  // namespace redrive::triage
