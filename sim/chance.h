#pragma once

#include <cassert>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/ids.h"

namespace redrive::sim {

// Every choice of a simulated run. Equal seeds give equal runs.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : source_(seed) {}

  // 0 .. bound - 1.
  std::uint64_t below(std::uint64_t bound) {
    assert(bound > 0);
    return source_.bits() % bound;
  }
  // Both ends included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  bool one_in(std::uint64_t bound) { return below(bound) == 0; }
  template <class Range>
  auto& pick(Range& range) {
    return *std::next(std::begin(range), static_cast<std::ptrdiff_t>(below(std::size(range))));
  }
  IdSource& source() { return source_; }

 private:
  SeededIds source_;
};

}  // namespace redrive::sim
