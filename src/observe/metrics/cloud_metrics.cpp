#include "observe/metrics/cloud_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace redrive::metrics {
namespace {

constexpr std::string_view kSqs = "AWS/SQS";
constexpr std::string_view kLambda = "AWS/Lambda";
constexpr std::string_view kOwn = "Redrive";  // Metrics without an AWS counterpart.
constexpr std::string_view kCount = "Count";

constexpr CloudMetric queue_metric(std::string_view space, std::string_view name,
                                   QueueMetric metric, std::string_view unit = kCount) {
  return {space, name, unit, Scope::queue, index(metric), std::nullopt};
}
constexpr CloudMetric function_metric(std::string_view name, FunctionMetric metric) {
  return {kLambda, name, kCount, Scope::function, index(metric), std::nullopt};
}
constexpr CloudMetric mapping_metric(std::string_view name, MappingMetric metric) {
  return {kLambda, name, kCount, Scope::mapping, index(metric), std::nullopt};
}

constexpr CloudMetric kMetrics[] = {
    queue_metric(kSqs, "ApproximateNumberOfMessagesVisible", QueueMetric::visible),
    queue_metric(kSqs, "ApproximateNumberOfMessagesNotVisible", QueueMetric::not_visible),
    queue_metric(kSqs, "ApproximateNumberOfMessagesDelayed", QueueMetric::delayed),
    queue_metric(kSqs, "ApproximateAgeOfOldestMessage", QueueMetric::oldest_age, "Seconds"),
    queue_metric(kSqs, "ApproximateNumberOfGroupsWithInflightMessages",
                 QueueMetric::groups_in_flight),
    queue_metric(kSqs, "ApproximateNumberOfNoisyGroups", QueueMetric::noisy_groups),
    queue_metric(kSqs, "ApproximateNumberOfMessagesVisibleInQuietGroups",
                 QueueMetric::visible_quiet),
    queue_metric(kSqs, "ApproximateNumberOfMessagesNotVisibleInQuietGroups",
                 QueueMetric::not_visible_quiet),
    queue_metric(kSqs, "ApproximateNumberOfMessagesDelayedInQuietGroups",
                 QueueMetric::delayed_quiet),
    queue_metric(kSqs, "ApproximateAgeOfOldestMessageInQuietGroups", QueueMetric::oldest_age_quiet,
                 "Seconds"),
    queue_metric(kSqs, "NumberOfMessagesSent", QueueMetric::sent),
    queue_metric(kSqs, "NumberOfMessagesReceived", QueueMetric::received),
    queue_metric(kSqs, "NumberOfMessagesDeleted", QueueMetric::deleted),
    queue_metric(kSqs, "NumberOfEmptyReceives", QueueMetric::empty_receives),
    queue_metric(kSqs, "NumberOfDeduplicatedSentMessages", QueueMetric::deduplicated),
    {kSqs,
     "SentMessageSize",
     "Bytes",
     Scope::queue,
     index(QueueMetric::sent_bytes),
     index(QueueMetric::sent),
     index(QueueMetric::sent_bytes_min),
     index(QueueMetric::sent_bytes_max)},
    queue_metric(kOwn, "NumberOfMessagesDeadLettered", QueueMetric::dead_lettered),
    queue_metric(kOwn, "NumberOfMessagesLostToDeadLetters", QueueMetric::dead_lettered_away),
    queue_metric(kOwn, "NumberOfMessagesRedriven", QueueMetric::redriven),
    queue_metric(kOwn, "NumberOfMessagesFailedAgain", QueueMetric::failed_again),
    queue_metric(kOwn, "NumberOfMessagesExpired", QueueMetric::expired),
    function_metric("Invocations", FunctionMetric::invocations),
    function_metric("Errors", FunctionMetric::errors),
    function_metric("Throttles", FunctionMetric::throttles),
    {kLambda,
     "Duration",
     "Milliseconds",
     Scope::function,
     index(FunctionMetric::duration),
     index(FunctionMetric::invocations),
     std::nullopt,
     index(FunctionMetric::duration_max)},
    function_metric("ConcurrentExecutions", FunctionMetric::concurrency),
    function_metric("AsyncEventsReceived", FunctionMetric::async_received),
    {kLambda,
     "AsyncEventAge",
     "Milliseconds",
     Scope::function,
     index(FunctionMetric::async_age),
     index(FunctionMetric::async_started)},
    function_metric("AsyncEventsDropped", FunctionMetric::async_dropped),
    function_metric("DeadLetterErrors", FunctionMetric::dead_letter_failures),
    function_metric("DestinationDeliveryFailures", FunctionMetric::destination_failures),
    mapping_metric("PolledEventCount", MappingMetric::polled),
    mapping_metric("FilteredOutEventCount", MappingMetric::filtered),
    mapping_metric("InvokedEventCount", MappingMetric::invoked),
    mapping_metric("FailedInvokeEventCount", MappingMetric::failed),
    mapping_metric("DroppedEventCount", MappingMetric::dropped),
    mapping_metric("OnFailureDestinationDeliveredEventCount", MappingMetric::sent_on_failure),
    mapping_metric("DeletedEventCount", MappingMetric::deleted),
};

// nullopt unless the series has exactly the metric's own dimension.
std::optional<Subject> subject_of(const CloudMetric& metric, const CloudLine& line) {
  if (line.dimensions.size() != 1) return std::nullopt;
  const auto& [name, value] = line.dimensions.front();
  if (name != dimension_of(metric.scope)) return std::nullopt;
  return Subject{metric.scope, subject_name(metric.scope, line.account, line.region, value)};
}

using Buckets = std::vector<std::optional<Bucket>>;

// Percentiles of each period, from the points at the finest available resolution.
std::vector<std::optional<double>> percentiles(const Buckets& points, std::size_t each,
                                               double part) {
  std::vector<std::optional<double>> result;
  for (std::size_t at = 0; at < points.size(); at += each) {
    std::vector<double> values;
    for (std::size_t i = at; i < std::min(points.size(), at + each); ++i) {
      if (points[i]) values.push_back(static_cast<double>(points[i]->max));
    }
    std::ranges::sort(values);
    auto& place = result.emplace_back();
    if (values.empty()) continue;
    const double rank = std::ceil(part * static_cast<double>(values.size()));
    place = values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
  }
  return result;
}

}  // namespace

std::span<const CloudMetric> cloud_metrics() {
  return kMetrics;
}

const CloudMetric* find_cloud_metric(std::string_view space, std::string_view name) {
  const auto found = std::ranges::find_if(kMetrics, [&](const CloudMetric& metric) {
    return metric.space == space && metric.name == name;
  });
  return found == std::end(kMetrics) ? nullptr : found;
}

std::string_view dimension_of(Scope scope) {
  switch (scope) {
    case Scope::server:
      return "";
    case Scope::queue:
      return "QueueName";
    case Scope::function:
      return "FunctionName";
    case Scope::mapping:
      return "EventSourceMappingUUID";
  }
  return "";
}

std::string subject_name(Scope scope, std::string_view account, std::string_view region,
                         std::string_view value) {
  switch (scope) {
    case Scope::queue:
      return fmt::format("arn:aws:sqs:{}:{}:{}", region, account, value);
    case Scope::function:
      return fmt::format("arn:aws:lambda:{}:{}:function:{}", region, account, value);
    case Scope::server:
    case Scope::mapping:
      break;
  }
  return std::string(value);
}

std::optional<Statistic> Statistic::parse(std::string_view text) {
  Statistic statistic;
  if (text == "Average") return statistic;
  statistic.kind_ = text == "Sum"           ? Kind::sum
                    : text == "Minimum"     ? Kind::minimum
                    : text == "Maximum"     ? Kind::maximum
                    : text == "SampleCount" ? Kind::sample_count
                                            : Kind::percentile;
  if (!statistic.is_percentile()) return statistic;
  if (!text.starts_with('p') || text.size() < 2) return std::nullopt;
  double percent = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, percent);
  if (error != std::errc() || stop != end || !(percent >= 0 && percent <= 100)) return std::nullopt;
  statistic.part_ = percent / 100;
  return statistic;
}

std::vector<std::optional<double>> read_statistic(const History& history, const CloudLine& line,
                                                  const Statistic& statistic, Timestamp from,
                                                  Timestamp to, std::chrono::seconds period) {
  using Kind = Statistic::Kind;
  const CloudMetric* const metric = find_cloud_metric(line.space, line.name);
  const auto subject = metric == nullptr ? std::nullopt : subject_of(*metric, line);
  const auto periods = static_cast<std::size_t>(
      std::max<std::int64_t>(0, ((to - from) / period) + ((to - from) % period != Duration(0))));
  std::vector<std::optional<double>> result(periods);
  if (!subject) return result;
  if (statistic.is_percentile()) {
    const std::chrono::seconds finest(period.count() % 60 == 0 ? 60 : 1);
    return percentiles(history.read(*subject, metric->sum, from, to, finest),
                       static_cast<std::size_t>(period / finest),
                       statistic.part_);
  }
  const auto read = [&](const std::optional<std::size_t>& which) {
    return which ? history.read(*subject, *which, from, to, period) : Buckets(periods);
  };
  const Buckets sums = read(metric->sum);
  const Buckets counts = read(metric->count);
  const Buckets lowest = read(metric->lowest);
  const Buckets highest = read(metric->highest);
  for (std::size_t i = 0; i < std::min(periods, sums.size()); ++i) {
    if (!sums[i]) continue;
    const double samples =
        static_cast<double>(metric->count ? (counts[i] ? counts[i]->sum : 0) : sums[i]->samples);
    if (samples == 0) continue;
    const auto sum = static_cast<double>(sums[i]->sum);
    // Without separate metrics for the extremes, the average is the best estimate.
    const double min = lowest[i]       ? static_cast<double>(lowest[i]->min)
                       : metric->count ? sum / samples
                                       : static_cast<double>(sums[i]->min);
    const double max = highest[i]      ? static_cast<double>(highest[i]->max)
                       : metric->count ? sum / samples
                                       : static_cast<double>(sums[i]->max);
    result[i] = statistic.kind_ == Kind::average   ? sum / samples
                : statistic.kind_ == Kind::sum     ? sum
                : statistic.kind_ == Kind::minimum ? min
                : statistic.kind_ == Kind::maximum ? max
                                                   : samples;
  }
  return result;
}

}  // namespace redrive::metrics
