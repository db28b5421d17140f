#include "aws/lambda/mapping_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "aws/lambda/destinations.h"
#include "base/result.h"
#include "functions/events/pattern.h"
#include "functions/events/retry_policy.h"

namespace redrive::lambda {
namespace {

using functions::Mapping;

constexpr std::int64_t kBatchMax = 10'000;
constexpr std::uint32_t kBatchMaxAtOnce = 10;  // Without a window, and from FIFO queues.
constexpr std::int64_t kWindowMax = 300;
constexpr std::size_t kFiltersMax = 10;
constexpr std::int64_t kRetryAttemptsMax = 10'000;
constexpr std::int64_t kRecordAgeMin = 60;
constexpr std::int64_t kRecordAgeMax = 604'800;
constexpr std::string_view kItemFailures = "ReportBatchItemFailures";

struct Limit {
  std::string_view where;
  std::int64_t min;
  std::int64_t max;
};
constexpr Limit kBatchLimit{"batchSize", 1, kBatchMax};
constexpr Limit kWindowLimit{"maximumBatchingWindowInSeconds", 0, kWindowMax};
constexpr Limit kConcurrencyLimit{"scalingConfig.maximumConcurrency", 2, 1000};
constexpr Limit kPollersMinLimit{"provisionedPollerConfig.minimumPollers", 2, 200};
constexpr Limit kPollersMaxLimit{"provisionedPollerConfig.maximumPollers", 2, 10'000};
constexpr Limit kRetriesLimit{"maximumRetryAttempts", -1, kRetryAttemptsMax};

Outcome<void> check_limit(std::int64_t value, const Limit& limit) {
  const std::string text = std::to_string(value);
  if (value < limit.min) {
    return breaks_constraint(
        text, limit.where, fmt::format("have value greater than or equal to {}", limit.min));
  }
  if (value > limit.max) {
    return breaks_constraint(
        text, limit.where, fmt::format("have value less than or equal to {}", limit.max));
  }
  return {};
}

Outcome<std::optional<std::uint32_t>> limited(std::optional<std::int64_t> value,
                                              const Limit& limit) {
  if (!value) return std::optional<std::uint32_t>();
  RETURN_IF_ERROR(check_limit(*value, limit));
  return std::optional(static_cast<std::uint32_t>(*value));
}

// Settings of streams, which queues do not have.
Outcome<void> check_unsupported(const documents::MappingSettings& settings) {
  const auto unsupported = [](std::string_view parameter) {
    return invalid(
        fmt::format("Unsupported {} parameter for given event source mapping type.", parameter));
  };
  if (settings.starting_position) return unsupported("StartingPosition");
  if (settings.parallelization_factor) return unsupported("ParallelizationFactor");
  if (settings.tumbling_window) return unsupported("TumblingWindowInSeconds");
  return {};
}

Outcome<void> apply_batching(const documents::MappingSettings& settings, Mapping& mapping) {
  if (settings.batch_size) {
    mapping.batch_size = *TRY(limited(settings.batch_size, kBatchLimit));
  }
  if (settings.maximum_batching_window) {
    RETURN_IF_ERROR(check_limit(*settings.maximum_batching_window, kWindowLimit));
    mapping.window = std::chrono::seconds(*settings.maximum_batching_window);
  }
  return {};
}

Outcome<void> apply_response_types(const documents::Texts& types, Mapping& mapping) {
  for (const std::string_view type : types) {
    if (type == kItemFailures && types.size() == 1) continue;
    return breaks_constraint(fmt::format("[{}]", fmt::join(types, ", ")),
                             "functionResponseTypes",
                             "satisfy constraint: [Member must satisfy enum value set: "
                             "[ReportBatchItemFailures]]");
  }
  mapping.report_item_failures = !types.empty();
  return {};
}

Outcome<void> apply_filters(const documents::FilterCriteria& criteria, Mapping& mapping) {
  if (criteria.filters.size() > kFiltersMax) {
    return invalid(fmt::format("A mapping can have at most {} filters.", kFiltersMax));
  }
  mapping.filters.clear();
  for (const documents::FilterPattern& filter : criteria.filters) {
    RETURN_IF_ERROR(told<void>(events::parse_pattern(filter.pattern)));
    mapping.filters.emplace_back(filter.pattern);
  }
  return {};
}

Outcome<void> apply_scaling(const documents::MappingSettings& settings, Mapping& mapping) {
  if (settings.scaling_config) {
    mapping.concurrency_max =
        TRY(limited(settings.scaling_config->maximum_concurrency, kConcurrencyLimit));
  }
  if (const auto& pollers = settings.provisioned_poller_config) {
    mapping.pollers_min = TRY(limited(pollers->minimum_pollers, kPollersMinLimit));
    mapping.pollers_max = TRY(limited(pollers->maximum_pollers, kPollersMaxLimit));
  }
  if (mapping.pollers_min && mapping.pollers_max && *mapping.pollers_min > *mapping.pollers_max) {
    return invalid("MinimumPollers cannot be greater than MaximumPollers.");
  }
  if (mapping.concurrency_max && (mapping.pollers_min || mapping.pollers_max)) {
    return invalid("ScalingConfig and ProvisionedPollerConfig cannot be set at the same time.");
  }
  return {};
}

Outcome<void> apply_metrics(const documents::MetricsConfig& config, Mapping& mapping) {
  for (const std::string_view metric : config.metrics) {
    if (metric != "EventCount") {
      return breaks_constraint(
          metric, "metricsConfig.metrics", "satisfy enum value set: [EventCount]");
    }
  }
  mapping.counts_events = !config.metrics.empty();
  return {};
}

// -1 stands for "without limit", as it does for streams.
Outcome<void> apply_giving_up(const documents::MappingSettings& settings, Mapping& mapping) {
  if (settings.bisect_batch) mapping.bisect = *settings.bisect_batch;
  if (settings.isolate_retries) mapping.isolate_retries = *settings.isolate_retries;
  if (settings.maximum_retry_attempts) {
    RETURN_IF_ERROR(check_limit(*settings.maximum_retry_attempts, kRetriesLimit));
    mapping.retries_max.reset();
    if (*settings.maximum_retry_attempts >= 0) {
      mapping.retries_max = static_cast<std::uint32_t>(*settings.maximum_retry_attempts);
    }
  }
  if (const auto age = settings.maximum_record_age) {
    if (*age != -1 && (*age < kRecordAgeMin || *age > kRecordAgeMax)) {
      return breaks_constraint(std::to_string(*age),
                               "maximumRecordAgeInSeconds",
                               "be -1 or have value between 60 and 604800");
    }
    mapping.age_max.reset();
    if (*age >= 0) mapping.age_max = std::chrono::seconds(*age);
  }
  return {};
}

Outcome<functions::Retrier> retrier_from(const documents::Retrier& input) {
  constexpr std::int64_t kLongest = 99'999'999;
  functions::Retrier out;
  out.error_equals.assign(input.error_equals.begin(), input.error_equals.end());
  if (const auto interval =
          TRY(limited(input.interval_seconds, {"intervalSeconds", 1, kLongest}))) {
    out.interval_seconds = *interval;
  }
  if (const auto attempts = TRY(limited(input.max_attempts, {"maxAttempts", 0, kLongest}))) {
    out.max_attempts = *attempts;
  }
  out.max_delay_seconds = TRY(limited(input.max_delay_seconds, {"maxDelaySeconds", 1, 31'622'399}));
  out.backoff_rate = input.backoff_rate.value_or(out.backoff_rate);
  const std::string_view jitter = input.jitter_strategy.value_or("NONE");
  if (jitter != "NONE" && jitter != "FULL") {
    return breaks_constraint(jitter, "jitterStrategy", "satisfy enum value set: [FULL, NONE]");
  }
  if (jitter == "FULL") out.jitter = functions::Retrier::Jitter::full;
  return out;
}

Outcome<void> apply_retry_policy(const std::vector<documents::Retrier>& policy, Mapping& mapping) {
  mapping.retriers.clear();
  for (const documents::Retrier& each : policy) mapping.retriers.push_back(TRY(retrier_from(each)));
  return told<void>(events::check_retry_policy(mapping.retriers));
}

Outcome<void> apply_destinations(const Call& call, const documents::DestinationConfig& config,
                                 Mapping& mapping) {
  Destinations destinations = TRY(destinations_of(call, config, QueueTypes::all));
  if (destinations.on_success == mapping.queue_arn ||
      destinations.on_failure == mapping.queue_arn) {
    return invalid("The queue of a mapping cannot be its destination.");
  }
  mapping.on_success = std::move(destinations.on_success);
  mapping.on_failure = std::move(destinations.on_failure);
  return {};
}

documents::Retrier describe_retrier(const functions::Retrier& retrier) {
  const bool full = retrier.jitter == functions::Retrier::Jitter::full;
  documents::Retrier out{.error_equals = {retrier.error_equals.begin(), retrier.error_equals.end()},
                         .interval_seconds = retrier.interval_seconds,
                         .max_attempts = retrier.max_attempts,
                         .backoff_rate = retrier.backoff_rate,
                         .jitter_strategy = full ? "FULL" : "NONE"};
  if (retrier.max_delay_seconds) out.max_delay_seconds = *retrier.max_delay_seconds;
  return out;
}

// Settings that Lambda does not return for queues are returned only if they were set.
void describe_extensions(const Mapping& mapping, documents::MappingDocument& out) {
  if (mapping.bisect) out.bisect_batch = true;
  out.isolate_retries = mapping.isolate_retries;
  if (mapping.retries_max) out.maximum_retry_attempts = *mapping.retries_max;
  if (mapping.age_max) out.maximum_record_age = mapping.age_max->count();
  if (!mapping.on_success.empty() || !mapping.on_failure.empty()) {
    out.destination_config = describe_destinations(mapping.on_success, mapping.on_failure);
  }
  for (const functions::Retrier& each : mapping.retriers) {
    out.retry_policy.push_back(describe_retrier(each));
  }
}

}  // namespace

Outcome<void> apply_settings(const Call& call, const documents::MappingSettings& settings,
                             Mapping& mapping) {
  RETURN_IF_ERROR(check_unsupported(settings));
  if (settings.enabled) mapping.enabled = *settings.enabled;
  RETURN_IF_ERROR(apply_batching(settings, mapping));
  if (call.body_names("FunctionResponseTypes")) {
    RETURN_IF_ERROR(apply_response_types(settings.function_response_types, mapping));
  }
  if (settings.filter_criteria) RETURN_IF_ERROR(apply_filters(*settings.filter_criteria, mapping));
  RETURN_IF_ERROR(apply_scaling(settings, mapping));
  if (settings.metrics_config) RETURN_IF_ERROR(apply_metrics(*settings.metrics_config, mapping));
  RETURN_IF_ERROR(apply_giving_up(settings, mapping));
  if (call.body_names("RetryPolicy"))
    RETURN_IF_ERROR(apply_retry_policy(settings.retry_policy, mapping));
  if (settings.destination_config) {
    RETURN_IF_ERROR(apply_destinations(call, *settings.destination_config, mapping));
  }
  return {};
}

Outcome<void> check_with_queue(const Mapping& mapping, const queue::Queue& queue) {
  const bool fifo = queue.settings.fifo.has_value();
  if (fifo && mapping.window.count() > 0) {
    return invalid("Batching window is not supported for FIFO queues");
  }
  if (fifo && mapping.batch_size > kBatchMaxAtOnce) {
    return invalid("Batch size must not be greater than 10 for FIFO queues");
  }
  if (mapping.batch_size > kBatchMaxAtOnce && mapping.window.count() == 0) {
    return invalid(
        "Maximum batch window in seconds must be greater than 0 if maximum batch size "
        "is greater than 10");
  }
  return {};
}

documents::MappingDocument describe(Call& call, const Mapping& mapping, std::string_view state) {
  documents::MappingDocument out;
  out.uuid = mapping.id;
  out.event_source_mapping_arn = call.keep(mapping.arn());
  out.event_source_arn = mapping.queue_arn;
  out.function_arn = mapping.function_arn;
  out.batch_size = mapping.batch_size;
  out.maximum_batching_window = mapping.window.count();
  out.last_modified = static_cast<double>(mapping.modified_wall.ms()) / 1000;
  out.state = state;
  out.state_transition_reason = "USER_INITIATED";
  if (mapping.report_item_failures) out.function_response_types = {kItemFailures};
  if (!mapping.filters.empty()) {
    auto& filters = out.filter_criteria.emplace().filters;
    for (const std::string& pattern : mapping.filters) filters.push_back({pattern});
  }
  if (mapping.concurrency_max) {
    out.scaling_config.emplace().maximum_concurrency = *mapping.concurrency_max;
  }
  if (mapping.pollers_min || mapping.pollers_max) {
    auto& pollers = out.provisioned_poller_config.emplace();
    if (mapping.pollers_min) pollers.minimum_pollers = *mapping.pollers_min;
    if (mapping.pollers_max) pollers.maximum_pollers = *mapping.pollers_max;
  }
  if (mapping.counts_events) out.metrics_config.emplace().metrics = {"EventCount"};
  describe_extensions(mapping, out);
  return out;
}

}  // namespace redrive::lambda
