#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace redrive::front {

// How many refused requests of one caller are written down one by one: a burst, then so many a
// second. The others are counted, and the counts are for a line of their own, so that none is
// missing without a trace. Callers are counted by name and address, up to a number; beyond it
// they share one budget. From any thread.
class RefusalLimit {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Options {
    double lines_per_second = 1;
    double burst = 20;
    std::size_t callers_max = 1'000;
  };
  RefusalLimit() : RefusalLimit(Options{}) {}
  explicit RefusalLimit(Options options) : options_(options) {}

  // Whether this one may be written down; otherwise it has been counted.
  bool admit(std::string_view who, std::string_view from, TimePoint now);

  struct Suppressed {
    std::string who;
    std::string from;
    std::uint64_t count = 0;
  };
  // What was counted since the last call. Forgets callers whose budget is whole again.
  std::vector<Suppressed> take_suppressed(TimePoint now);

 private:
  struct Budget {
    double lines = 0;
    TimePoint at;  // When `lines` was right.
    std::uint64_t suppressed = 0;
  };
  void refill(Budget& budget, TimePoint now) const;

  const Options options_;
  Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Budget> budgets_ GUARDED_BY(mutex_);
};

}  // namespace redrive::front
