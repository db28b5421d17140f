#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "metrics/history.h"

namespace redrive::metrics {

// A metric under the names that CloudWatch has for it.
struct CloudMetric {
  std::string_view space;  // Namespace.
  std::string_view name;
  std::string_view unit;
  Scope scope;
  std::size_t sum;                   // Of the values,
  std::optional<std::size_t> count;  // and their number; none: every point is one value.
  std::optional<std::size_t> lowest = {};
  std::optional<std::size_t> highest = {};
};
std::span<const CloudMetric> cloud_metrics();
const CloudMetric* find_cloud_metric(std::string_view space, std::string_view name);

// What the dimension of a scope's metrics is called: QueueName, FunctionName,
// EventSourceMappingUUID.
std::string_view dimension_of(Scope scope);

// What the history calls a thing that a client names by the value of its dimension: queues and
// functions go by their ARNs, so that accounts do not share numbers, mappings by their UUIDs.
std::string subject_name(Scope scope, std::string_view account, std::string_view region,
                         std::string_view value);

using Dimensions = std::vector<std::pair<std::string, std::string>>;

// One line of numbers, as a client names it.
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
  double part_ = 0;  // Of a percentile, from 0 to 1.
};

// One number for each period from `from` to before `to`; nothing where nothing was measured, and
// nowhere when there is no such line.
std::vector<std::optional<double>> read_statistic(const History& history, const CloudLine& line,
                                                  const Statistic& statistic, Timestamp from,
                                                  Timestamp to, std::chrono::seconds period);

}  // namespace redrive::metrics
