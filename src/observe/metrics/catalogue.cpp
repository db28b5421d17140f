#include "observe/metrics/catalogue.h"

#include <algorithm>
#include <iterator>

namespace redrive::metrics {
namespace {

constexpr Metric kOfQueues[] = {
    {"visible", Nature::gauge},
    {"not-visible", Nature::gauge},
    {"delayed", Nature::gauge},
    {"oldest-age", Nature::gauge},
    {"groups-in-flight", Nature::gauge},
    {"sent", Nature::counter},
    {"received", Nature::counter},
    {"deleted", Nature::counter},
    {"empty-receives", Nature::counter},
    {"deduplicated", Nature::counter},
    {"sent-bytes", Nature::counter},
    {"sent-bytes-min", Nature::lowest},
    {"sent-bytes-max", Nature::highest},
    {"dead-lettered", Nature::counter},
    {"dead-lettered-away", Nature::counter},
    {"redriven", Nature::counter},
    {"failed-again", Nature::counter},
    {"expired", Nature::counter},
    // Only for queues with tenants.
    {"noisy-groups", Nature::highest},
    {"visible-quiet", Nature::highest},
    {"not-visible-quiet", Nature::highest},
    {"delayed-quiet", Nature::highest},
    {"oldest-age-quiet", Nature::highest},
};
static_assert(std::size(kOfQueues) == kQueueMetrics);

constexpr Metric kOfFunctions[] = {
    {"invocations", Nature::counter},
    {"errors", Nature::counter},
    {"throttles", Nature::counter},
    {"duration", Nature::counter},
    {"duration-max", Nature::highest},
    {"concurrency", Nature::gauge},
    {"async-received", Nature::counter},
    {"async-dropped", Nature::counter},
    {"async-age", Nature::counter},
    {"async-started", Nature::counter},
    {"destination-failures", Nature::counter},
    {"dead-letter-failures", Nature::counter},
};
static_assert(std::size(kOfFunctions) == kFunctionMetrics);

constexpr Metric kOfMappings[] = {
    {"polled", Nature::counter},
    {"filtered", Nature::counter},
    {"invoked", Nature::counter},
    {"failed", Nature::counter},
    {"deleted", Nature::counter},
    {"dropped", Nature::counter},
    {"sent-on-failure", Nature::counter},
    {"concurrency", Nature::gauge},
};
static_assert(std::size(kOfMappings) == kMappingMetrics);

constexpr Metric kOfTheServer[] = {
    {"requests", Nature::counter},
    {"errors", Nature::counter},
    {"syncs", Nature::counter},
    {"sync-micros", Nature::counter},
    {"journal-bytes", Nature::counter},
    {"connections", Nature::gauge},
    {"resident-bytes", Nature::gauge},
    {"cpu-millis", Nature::counter},
};
static_assert(std::size(kOfTheServer) == kServerMetrics);

}  // namespace

std::span<const Metric> metrics_of(Scope scope) {
  switch (scope) {
    case Scope::server:
      return kOfTheServer;
    case Scope::queue:
      return kOfQueues;
    case Scope::function:
      return kOfFunctions;
    case Scope::mapping:
      return kOfMappings;
  }
  return {};
}

std::optional<std::size_t> find_metric(Scope scope, std::string_view name) {
  const auto metrics = metrics_of(scope);
  const auto found = std::ranges::find(metrics, name, &Metric::name);
  if (found == metrics.end()) return std::nullopt;
  return static_cast<std::size_t>(found - metrics.begin());
}

}  // namespace redrive::metrics
