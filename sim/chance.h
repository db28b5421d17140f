#pragma once

#include <cassert>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace redrive::sim {

// One choice of a run: `value` out of 0 .. `bound` - 1.
struct Draw {
  std::uint64_t value = 0;
  std::uint64_t bound = 1;

  friend bool operator==(const Draw&, const Draw&) = default;
};
using Draws = std::vector<Draw>;

// Every choice of a simulated run. Equal seeds give equal runs, and so do equal draws.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : source_(seed) {}

  // 0 .. bound - 1.
  std::uint64_t below(std::uint64_t bound) {
    assert(bound > 0);
    const std::uint64_t drawn = at_ < script_.size() ? script_[at_++].value : source_.bits();
    if (record_ != nullptr) record_->push_back({drawn % bound, bound});
    return drawn % bound;
  }
  // Both ends inclusive.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool one_in(std::uint64_t bound) { return below(bound) == 0; }
  template <class Range>
  auto& pick(Range& range) {
    return *std::next(std::begin(range), static_cast<std::ptrdiff_t>(below(std::size(range))));
  }
  // A generator for details that are too many for a trace, such as the sectors that a crash keeps.
  // One draw.
  SeededIds details() { return SeededIds(below(1'000'000)); }

  // Appends every draw from now on to `draws`, which must outlive its use; null ends that.
  void record_into(Draws* draws) { record_ = draws; }
  // The next draws are these, reduced to their bounds. Further draws come from `seed`.
  void replay(Draws draws, std::uint64_t seed) {
    script_ = std::move(draws);
    at_ = 0;
    source_ = SeededIds(seed);
  }

 private:
  SeededIds source_;
  Draws script_;
  std::size_t at_ = 0;
  Draws* record_ = nullptr;
};

}  // namespace redrive::sim
