#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace redrive::metrics {

// The metrics recorded over time, by scope. Files identify metrics by their index in these lists,
// so append new ones at the end.

enum class Scope : std::uint8_t { server, queue, function, mapping };

// How values are combined within a period, and what is assumed for moments without a measurement
// while the server ran.
enum class Nature : std::uint8_t {
  gauge,    // The maximum, so that no peak is missed; assumed unchanged.
  counter,  // The sum; assumed zero.
  highest,  // The maximum of events; no value if there were none.
  lowest,
};

struct Metric {
  std::string_view name;  // As in the management API and docs/metrics.md.
  Nature nature;
};

enum class QueueMetric : std::uint8_t {
  visible,
  not_visible,
  delayed,
  oldest_age,  // Seconds.
  groups_in_flight,
  sent,
  received,
  deleted,
  empty_receives,
  deduplicated,
  sent_bytes,
  sent_bytes_min,
  sent_bytes_max,
  dead_lettered,
  dead_lettered_away,
  redriven,
  failed_again,
  expired,
  noisy_groups,
  visible_quiet,
  not_visible_quiet,
  delayed_quiet,
  oldest_age_quiet,  // Seconds.
};
inline constexpr std::size_t kQueueMetrics = 23;

enum class FunctionMetric : std::uint8_t {
  invocations,
  errors,
  throttles,
  duration,  // Milliseconds, total.
  duration_max,
  concurrency,
  async_received,
  async_dropped,
  async_age,  // Milliseconds, total.
  async_started,
  destination_failures,
  dead_letter_failures,
};
inline constexpr std::size_t kFunctionMetrics = 12;

enum class MappingMetric : std::uint8_t {
  polled,
  filtered,
  invoked,
  failed,
  deleted,
  dropped,
  sent_on_failure,
  concurrency,
};
inline constexpr std::size_t kMappingMetrics = 8;

enum class ServerMetric : std::uint8_t {
  requests,
  errors,
  syncs,
  sync_micros,
  journal_bytes,
  connections,
  resident_bytes,
  cpu_millis,
};
inline constexpr std::size_t kServerMetrics = 8;

std::span<const Metric> metrics_of(Scope scope);
std::optional<std::size_t> find_metric(Scope scope, std::string_view name);

template <class Name>
constexpr std::size_t index(Name metric) {
  return static_cast<std::size_t>(metric);
}

}  // namespace redrive::metrics
