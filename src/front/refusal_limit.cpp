#include "front/refusal_limit.h"

#include <algorithm>

namespace redrive::front {
namespace {

// For all callers beyond callers_max.
constexpr std::string_view kOthers = "*";

}  // namespace

void RefusalLimit::refill(Budget& budget, TimePoint now) const {
  const std::chrono::duration<double> passed = now - budget.at;
  budget.lines =
      std::min(options_.burst, budget.lines + passed.count() * options_.lines_per_second);
  budget.at = now;
}

bool RefusalLimit::admit(std::string_view who, std::string_view from, TimePoint now) {
  const MutexLock lock(mutex_);
  std::pair key{std::string(who), std::string(from)};
  if (budgets_.size() >= options_.callers_max && !budgets_.contains(key)) {
    key = {std::string(kOthers), std::string(kOthers)};
  }
  const auto [entry, is_new] =
      budgets_.try_emplace(std::move(key), Budget{.lines = options_.burst, .at = now});
  Budget& budget = entry->second;
  refill(budget, now);
  if (budget.lines < 1) {
    ++budget.suppressed;
    return false;
  }
  budget.lines -= 1;
  return true;
}

std::vector<RefusalLimit::Suppressed> RefusalLimit::take_suppressed(TimePoint now) {
  std::vector<Suppressed> all;
  const MutexLock lock(mutex_);
  for (auto& [key, budget] : budgets_) {
    refill(budget, now);
    if (budget.suppressed == 0) continue;
    all.push_back({.who = key.first, .from = key.second, .count = budget.suppressed});
    budget.suppressed = 0;
  }
  std::erase_if(budgets_, [&](const auto& entry) { return entry.second.lines >= options_.burst; });
  return all;
}

}  // namespace redrive::front
