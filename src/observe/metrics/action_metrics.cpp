#include "observe/metrics/action_metrics.h"

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
      latencies_(std::make_unique<OnDemand<PerThread<Histogram>>[]>(actions_.size())),
      errors_(std::make_unique<OnDemand<Errors>[]>(actions_.size())) {}

Distribution ActionMetrics::read_latency(std::size_t action) const {
  Distribution distribution;
  if (const auto* const latency = latencies_[action].find()) {
    latency->for_each([&](const Histogram& share) { share.add_to(distribution); });
  }
  return distribution;
}

std::uint64_t ActionMetrics::errors(std::size_t action, ErrorCode code) const {
  const Errors* const errors = errors_[action].find();
  return errors == nullptr ? 0 : errors->by_code[static_cast<std::size_t>(code)].value();
}

std::vector<std::pair<std::string, std::uint64_t>> ActionMetrics::named_errors(
    std::size_t action) const {
  const Errors* const errors = errors_[action].find();
  if (errors == nullptr) return {};
  return errors->by_name.read();
}

std::uint64_t ActionMetrics::errors(std::size_t action) const {
  const Errors* const errors = errors_[action].find();
  if (errors == nullptr) return 0;
  std::uint64_t sum = 0;
  for (const Counter& counter : errors->by_code) sum += counter.value();
  for (const auto& [name, count] : errors->by_name.read()) sum += count;
  return sum;
}

}  // namespace redrive::metrics
