#include "metrics/action_metrics.h"

namespace redrive::metrics {
namespace {

std::vector<std::string_view> with_unknown(std::vector<std::string_view> actions) {
  actions.push_back("unknown");
  return actions;
}

}  // namespace

ActionMetrics::ActionMetrics(std::string service, std::vector<std::string_view> actions)
    : service_(std::move(service)),
      actions_(with_unknown(std::move(actions))),
      latencies_(std::make_unique<PerThread<Histogram>[]>(actions_.size())),
      errors_(std::make_unique<std::array<Counter, kCodes>[]>(actions_.size())),
      named_errors_(std::make_unique<NamedCounters[]>(actions_.size())) {}

Distribution ActionMetrics::read_latency(std::size_t action) const {
  Distribution distribution;
  latencies_[action].for_each([&](const Histogram& share) { share.add_to(distribution); });
  return distribution;
}

std::uint64_t ActionMetrics::errors(std::size_t action) const {
  std::uint64_t sum = 0;
  for (const Counter& counter : errors_[action]) sum += counter.value();
  for (const auto& [name, count] : named_errors_[action].read()) sum += count;
  return sum;
}

}  // namespace redrive::metrics
