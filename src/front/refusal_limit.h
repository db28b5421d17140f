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

// Limits the audit entries for refused requests of one caller: a burst, then a number per second.
// Refusals beyond it are counted, and the counts are logged in one line. Callers are distinguished
// by name and address up to callers_max; all others share one budget. Thread-safe.
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

  // Whether this refusal gets its own entry; otherwise it is counted.
  bool admit(std::string_view who, std::string_view from, TimePoint now);

  struct Suppressed {
    std::string who;
    std::string from;
    std::uint64_t count = 0;
  };
  // The counts since the last call. Forgets callers whose budget is full again.
  std::vector<Suppressed> take_suppressed(TimePoint now);

 private:
  struct Budget {
    double lines = 0;
    TimePoint at;  // The time of `lines`.
    std::uint64_t suppressed = 0;
  };
  void refill(Budget& budget, TimePoint now) const;

  const Options options_;
  Mutex mutex_;
  std::map<std::pair<std::string, std::string>, Budget> budgets_ GUARDED_BY(mutex_);
};

}  // namespace redrive::front
