#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "observe/metrics/history.h"

namespace redrive::metrics {

// A metric under its CloudWatch name.
struct CloudMetric {
  std::string_view space;  // Namespace.
  std::string_view name;
  std::string_view unit;
  Scope scope;
  std::size_t sum;                   // Metric with the sum of the values,
  std::optional<std::size_t> count;  // and with their number; nullopt: every point is one value.
  std::optional<std::size_t> lowest = {};
  std::optional<std::size_t> highest = {};
};
std::span<const CloudMetric> cloud_metrics();
const CloudMetric* find_cloud_metric(std::string_view space, std::string_view name);

// The dimension of a scope's metrics: QueueName, FunctionName, EventSourceMappingUUID.
std::string_view dimension_of(Scope scope);

// The history's name for the value of a dimension: ARNs for queues and functions, so that accounts
// are kept apart, UUIDs for mappings.
std::string subject_name(Scope scope, std::string_view account, std::string_view region,
                         std::string_view value);

using Dimensions = std::vector<std::pair<std::string, std::string>>;

// One time series as identified by a client.
struct CloudLine {
  std::string account;
  std::string region;
  std::string space;
  std::string name;
  Dimensions dimensions;
};

// Average, Sum, Minimum, Maximum, SampleCount, or p0 to p100 with a fraction.
class Statistic {
 public:
  static std::optional<Statistic> parse(std::string_view text);
  bool is_percentile() const { return kind_ == Kind::percentile; }

 private:
  friend std::vector<std::optional<double>> read_statistic(const History&, const CloudLine&,
                                                           const Statistic&, Timestamp, Timestamp,
                                                           std::chrono::seconds);
  enum class Kind : std::uint8_t { average, sum, minimum, maximum, sample_count, percentile };
  Kind kind_ = Kind::average;
  double part_ = 0;  // Fraction of a percentile, from 0 to 1.
};

// One number per period from `from` up to, not including, `to`; nullopt for periods without
// measurements, and for all of them if there is no such series.
std::vector<std::optional<double>> read_statistic(const History& history, const CloudLine& line,
                                                  const Statistic& statistic, Timestamp from,
                                                  Timestamp to, std::chrono::seconds period);

}  // namespace redrive::metrics
