#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "manage/documents/functions.h"

// The documents of the Lambda API about event source mappings and asynchronous invocations.
// RetryPolicy is an extension; for queues so are the members that Lambda has for streams only.

namespace redrive::documents {

struct Destination {
  std::optional<std::string_view> destination;
};
consteval auto shape_of(Destination*) {
  return wire::shape(wire::optional("Destination", &Destination::destination));
}

struct DestinationConfig {
  std::optional<Destination> on_success;
  std::optional<Destination> on_failure;
};
consteval auto shape_of(DestinationConfig*) {
  return wire::shape(wire::optional("OnSuccess", &DestinationConfig::on_success),
                     wire::optional("OnFailure", &DestinationConfig::on_failure));
}

struct FilterPattern {
  std::string_view pattern;
};
consteval auto shape_of(FilterPattern*) {
  return wire::shape(wire::required("Pattern", &FilterPattern::pattern));
}

struct FilterCriteria {
  std::vector<FilterPattern> filters;
};
consteval auto shape_of(FilterCriteria*) {
  return wire::shape(wire::optional("Filters", &FilterCriteria::filters).each("member"));
}

struct ScalingConfig {
  std::optional<std::int64_t> maximum_concurrency;
};
consteval auto shape_of(ScalingConfig*) {
  return wire::shape(wire::optional("MaximumConcurrency", &ScalingConfig::maximum_concurrency));
}

struct ProvisionedPollerConfig {
  std::optional<std::int64_t> minimum_pollers;
  std::optional<std::int64_t> maximum_pollers;
};
consteval auto shape_of(ProvisionedPollerConfig*) {
  using Self = ProvisionedPollerConfig;
  return wire::shape(wire::optional("MinimumPollers", &Self::minimum_pollers),
                     wire::optional("MaximumPollers", &Self::maximum_pollers));
}

struct MetricsConfig {
  Texts metrics;
};
consteval auto shape_of(MetricsConfig*) {
  return wire::shape(wire::optional("Metrics", &MetricsConfig::metrics).each("member"));
}

struct Retrier {
  Texts error_equals;
  std::optional<std::int64_t> interval_seconds;
  std::optional<std::int64_t> max_attempts;
  std::optional<double> backoff_rate;
  std::optional<std::int64_t> max_delay_seconds;
  std::optional<std::string_view> jitter_strategy;
};
consteval auto shape_of(Retrier*) {
  return wire::shape(wire::optional("ErrorEquals", &Retrier::error_equals).each("member"),
                     wire::optional("IntervalSeconds", &Retrier::interval_seconds),
                     wire::optional("MaxAttempts", &Retrier::max_attempts),
                     wire::optional("BackoffRate", &Retrier::backoff_rate),
                     wire::optional("MaxDelaySeconds", &Retrier::max_delay_seconds),
                     wire::optional("JitterStrategy", &Retrier::jitter_strategy));
}

// How a mapping treats its messages, in requests and responses.
struct MappingRules {
  Texts function_response_types;
  std::optional<FilterCriteria> filter_criteria;
  std::optional<ScalingConfig> scaling_config;
  std::optional<ProvisionedPollerConfig> provisioned_poller_config;
  std::optional<MetricsConfig> metrics_config;
  std::optional<bool> bisect_batch;
  std::optional<bool> isolate_retries;  // Ours.
  std::optional<std::int64_t> maximum_retry_attempts;
  std::optional<std::int64_t> maximum_record_age;
  std::optional<DestinationConfig> destination_config;
  std::vector<Retrier> retry_policy;
};
consteval auto shape_of(MappingRules*) {
  using Self = MappingRules;
  return wire::shape(wire::optional("FunctionResponseTypes", &Self::function_response_types)
                         .each("member")
                         .always(),
                     wire::optional("FilterCriteria", &Self::filter_criteria),
                     wire::optional("ScalingConfig", &Self::scaling_config),
                     wire::optional("ProvisionedPollerConfig", &Self::provisioned_poller_config),
                     wire::optional("MetricsConfig", &Self::metrics_config),
                     wire::optional("BisectBatchOnFunctionError", &Self::bisect_batch),
                     wire::optional("IsolateRetries", &Self::isolate_retries),
                     wire::optional("MaximumRetryAttempts", &Self::maximum_retry_attempts),
                     wire::optional("MaximumRecordAgeInSeconds", &Self::maximum_record_age),
                     wire::optional("DestinationConfig", &Self::destination_config),
                     wire::optional("RetryPolicy", &Self::retry_policy).each("member"));
}

// A mapping in a response.
struct MappingDocument : MappingRules {
  std::string_view uuid;
  std::string_view event_source_mapping_arn;
  std::string_view event_source_arn;
  std::string_view function_arn;
  std::int64_t batch_size = 0;
  std::int64_t maximum_batching_window = 0;
  double last_modified = 0;  // Seconds since 1970.
  std::string_view state;
  std::string_view state_transition_reason;
};
consteval auto shape_of(MappingDocument*) {
  using Out = MappingDocument;
  return wire::joined(
      wire::shape(wire::required("UUID", &Out::uuid),
                  wire::optional("EventSourceMappingArn", &Out::event_source_mapping_arn),
                  wire::required("EventSourceArn", &Out::event_source_arn),
                  wire::required("FunctionArn", &Out::function_arn),
                  wire::required("BatchSize", &Out::batch_size),
                  wire::required("MaximumBatchingWindowInSeconds", &Out::maximum_batching_window)),
      shape_of(static_cast<MappingRules*>(nullptr)),
      wire::shape(wire::optional("LastModified", &Out::last_modified),
                  wire::required("State", &Out::state),
                  wire::optional("StateTransitionReason", &Out::state_transition_reason)));
}

struct MappingList {
  std::vector<MappingDocument> mappings;
  std::optional<std::string_view> next_marker;
};
consteval auto shape_of(MappingList*) {
  return wire::shape(
      wire::optional("EventSourceMappings", &MappingList::mappings).each("member").always(),
      wire::optional("NextMarker", &MappingList::next_marker));
}

// What CreateEventSourceMapping and UpdateEventSourceMapping take. Absent members stay unchanged;
// an empty object or list removes the setting.
struct MappingSettings : MappingRules {
  std::optional<std::string_view> event_source_arn;
  std::optional<std::string_view> function_name;
  std::optional<bool> enabled;
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> maximum_batching_window;
  std::optional<std::int64_t> parallelization_factor;
  std::optional<std::int64_t> tumbling_window;
  std::optional<std::string_view> starting_position;
  TextMap tags;
};
consteval auto shape_of(MappingSettings*) {
  using In = MappingSettings;
  return wire::joined(
      wire::shape(wire::optional("EventSourceArn", &In::event_source_arn),
                  wire::optional("FunctionName", &In::function_name),
                  wire::optional("Enabled", &In::enabled),
                  wire::optional("BatchSize", &In::batch_size),
                  wire::optional("MaximumBatchingWindowInSeconds", &In::maximum_batching_window)),
      shape_of(static_cast<MappingRules*>(nullptr)),
      wire::shape(wire::optional("ParallelizationFactor", &In::parallelization_factor),
                  wire::optional("TumblingWindowInSeconds", &In::tumbling_window),
                  wire::optional("StartingPosition", &In::starting_position),
                  wire::optional("Tags", &In::tags).each("entry")));
}

// How a function is invoked asynchronously, in requests and responses.
struct InvokeSettings {
  std::optional<std::int64_t> maximum_retry_attempts;
  std::optional<std::int64_t> maximum_event_age;
  std::optional<DestinationConfig> destination_config;
};
consteval auto shape_of(InvokeSettings*) {
  using In = InvokeSettings;
  return wire::shape(wire::optional("MaximumRetryAttempts", &In::maximum_retry_attempts),
                     wire::optional("MaximumEventAgeInSeconds", &In::maximum_event_age),
                     wire::optional("DestinationConfig", &In::destination_config));
}

struct InvokeConfigDocument {
  double last_modified = 0;  // Seconds since 1970.
  std::string_view function_arn;
  std::optional<std::int64_t> maximum_retry_attempts;
  std::optional<std::int64_t> maximum_event_age;
  DestinationConfig destination_config;
};
consteval auto shape_of(InvokeConfigDocument*) {
  using Out = InvokeConfigDocument;
  return wire::shape(wire::required("LastModified", &Out::last_modified),
                     wire::required("FunctionArn", &Out::function_arn),
                     wire::optional("MaximumRetryAttempts", &Out::maximum_retry_attempts),
                     wire::optional("MaximumEventAgeInSeconds", &Out::maximum_event_age),
                     wire::required("DestinationConfig", &Out::destination_config));
}

struct InvokeConfigList {
  std::vector<InvokeConfigDocument> configs;
};
consteval auto shape_of(InvokeConfigList*) {
  return wire::shape(wire::optional("FunctionEventInvokeConfigs", &InvokeConfigList::configs)
                         .each("member")
                         .always());
}

}  // namespace redrive::documents
