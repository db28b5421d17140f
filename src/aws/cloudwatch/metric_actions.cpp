// Reading metrics: GetMetricData, GetMetricStatistics, ListMetrics.

#include <fmt/format.h>

#include <algorithm>

#include "aws/cloudwatch/call.h"
#include "base/text.h"
#include "observe/metrics/cloud_metrics.h"

namespace redrive::cloudwatch {
namespace {

using metrics::CloudLine;
using metrics::Statistic;
using std::chrono::seconds;

constexpr std::int64_t kStatisticsPointsMax = 1'440;
constexpr std::int64_t kDataPointsMax = 100'800;
constexpr std::size_t kQueriesMax = 500;
constexpr std::size_t kListedMax = 500;
constexpr Duration kRecent = std::chrono::hours(3);

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

CloudLine line_of(const Call& call, std::string_view space, std::string_view name,
                  const DimensionList& dimensions) {
  return CloudLine{.account = call.caller().account,
                   .region = call.caller().region,
                   .space = std::string(space),
                   .name = std::string(name),
                   .dimensions = dimensions_of(dimensions)};
}

// A line that names nothing here has no numbers, and needs no right.
Result<void> check_line(const Call& call, const CloudLine& line) {
  const auto* const metric = metrics::find_cloud_metric(line.space, line.name);
  if (metric == nullptr || line.dimensions.size() != 1) return {};
  const std::string name =
      subject_name(metric->scope, line.account, line.region, line.dimensions.front().second);
  return front::authorize_metrics(
      call.parts.engine, call.parts.gate, call.caller(), call.operation(), {metric->scope, name});
}

Result<seconds> checked_period(std::string_view name, std::int64_t period) {
  const bool fits = period > 0 && period <= 14 * 86'400 &&
                    (period % 60 == 0 || period == 1 || period == 5 || period == 10 ||
                     period == 20 || period == 30);
  if (!fits) {
    return invalid(
        fmt::format("The value of {} must be 1, 5, 10, 20, 30 or a multiple of 60 seconds.", name));
  }
  return seconds(period);
}

// From a moment at which a period begins, in engine time.
struct Range {
  Timestamp from;
  Timestamp to;
};

Result<Range> range_of(const Call& call, std::optional<Timestamp> start,
                       std::optional<Timestamp> end, seconds period, std::int64_t points_max) {
  if (!start || !end) {
    return fail(ErrorCode::missing_parameter, "StartTime and EndTime are required.");
  }
  if (*start >= *end) return invalid("StartTime must be before EndTime.");
  const std::int64_t step = Duration(period).count();
  const std::int64_t from = (*start - call.wall_ahead).ms() / step * step;
  const std::int64_t to = ((*end - call.wall_ahead).ms() + step - 1) / step * step;
  if ((to - from) / step > points_max) {
    return invalid(fmt::format("A request can return at most {} points.", points_max));
  }
  return Range{Timestamp(from), Timestamp(to)};
}

// In wall time, to the second: engine time and wall time can differ by fractions of one.
Timestamp reported(const Call& call, Timestamp moment) {
  return Timestamp((moment + call.wall_ahead).ms() / 1000 * 1000);
}

Result<MetricDataResult> one_result(Call& call, const GetMetricDataInput& input,
                                    const MetricDataQuery& query) {
  if (query.expression) {
    return invalid("Metric math is not supported: a query requires a MetricStat.");
  }
  if (!query.stat) return fail(ErrorCode::missing_parameter, "A query requires a MetricStat.");
  const Metric& metric = query.stat->metric;
  const CloudLine line = line_of(call, metric.space, metric.name, metric.dimensions);
  RETURN_IF_ERROR(check_line(call, line));
  const seconds period = TRY(checked_period("MetricStat.Period", query.stat->period));
  const auto statistic = Statistic::parse(std::string(query.stat->statistic));
  if (!statistic) return invalid("The statistic is not supported.");
  const Range range = TRY(range_of(call, input.start, input.end, period, kDataPointsMax));
  const auto numbers =
      read_statistic(call.parts.history, line, *statistic, range.from, range.to, period);
  MetricDataResult result{.id = query.id, .label = query.label.empty() ? metric.name : query.label};
  const bool ascending = input.scan_by == "TimestampAscending";
  for (std::size_t step = 0; step < numbers.size(); ++step) {
    const std::size_t i = ascending ? step : numbers.size() - 1 - step;
    if (!numbers[i]) continue;
    result.times.push_back(reported(call, range.from + period * static_cast<std::int64_t>(i)));
    result.values.push_back({*numbers[i]});
  }
  return result;
}

using Place = std::optional<wire::Decimal> Datapoint::*;
constexpr std::pair<std::string_view, Place> kStatistics[] = {
    {"SampleCount", &Datapoint::sample_count},
    {"Average", &Datapoint::average},
    {"Sum", &Datapoint::sum},
    {"Minimum", &Datapoint::minimum},
    {"Maximum", &Datapoint::maximum},
};

// Where a statistic stands in a point; null: it is a percentile.
Place place_of(std::string_view statistic) {
  const auto found =
      std::ranges::find(kStatistics, statistic, &std::pair<std::string_view, Place>::first);
  return found == std::end(kStatistics) ? nullptr : found->second;
}

// A subject whose metrics a client may see and wants to, and the value of its dimension.
struct ListedSubject {
  metrics::Subject subject;
  std::string value;

  bool has(const metrics::History& history, const metrics::CloudMetric& metric) const {
    using metrics::index;
    using metrics::QueueMetric;
    if (metric.scope != subject.scope) return false;
    const bool of_fifo = metric.scope == metrics::Scope::queue &&
                         (metric.sum == index(QueueMetric::groups_in_flight) ||
                          metric.sum == index(QueueMetric::deduplicated));
    return (!of_fifo || value.ends_with(".fifo")) && history.has(subject, metric.sum);
  }
};

bool sees_subject(const Call& call, const metrics::Subject& subject) {
  return front::authorize_metrics(
             call.parts.engine, call.parts.gate, call.caller(), call.operation(), subject)
      .has_value();
}

std::vector<ListedSubject> listed_subjects(const Call& call, const ListMetricsInput& input) {
  using metrics::Scope;
  const bool recently = input.recently_active == "PT3H";
  const Timestamp since = recently ? call.parts.engine.now() - kRecent : Timestamp();
  std::vector<ListedSubject> found;
  for (const Scope scope : {Scope::queue, Scope::function, Scope::mapping}) {
    const std::string own =
        metrics::subject_name(scope, call.caller().account, call.caller().region, "");
    for (const metrics::Subject& subject : call.parts.history.subjects(scope, since)) {
      if (!subject.name.starts_with(own) || !sees_subject(call, subject)) continue;
      std::string value = subject.name.substr(own.size());
      const bool fits = std::ranges::all_of(input.dimensions, [&](const DimensionFilter& filter) {
        return filter.name == metrics::dimension_of(scope) &&
               (filter.value.empty() || filter.value == value);
      });
      if (fits) found.push_back({subject, std::move(value)});
    }
  }
  return found;
}

struct Column {
  std::string_view name;
  Place place;
  std::vector<std::optional<double>> numbers;
};

void set_columns(Datapoint& point, const std::vector<Column>& columns, std::size_t i) {
  for (const Column& column : columns) {
    const wire::Decimal number{column.numbers[i].value_or(0)};
    if (column.place != nullptr) {
      point.*column.place = number;
    } else {
      point.percentiles.emplace_back(column.name, number);
    }
  }
}

Result<void> add_columns(const Call& call, const CloudLine& line, const Range& range,
                         seconds period, const Texts& names, bool percentiles,
                         std::vector<Column>& columns) {
  for (const std::string_view name : names) {
    const auto statistic = Statistic::parse(std::string(name));
    const Place place = place_of(name);
    if (!statistic || percentiles != (place == nullptr)) {
      return invalid(fmt::format("The statistic {} is not supported.", name));
    }
    columns.push_back(
        {name,
         place,
         read_statistic(call.parts.history, line, *statistic, range.from, range.to, period)});
  }
  return {};
}

}  // namespace

metrics::Dimensions dimensions_of(const DimensionList& list) {
  metrics::Dimensions dimensions;
  for (const Dimension& one : list) {
    dimensions.emplace_back(std::string(one.name), std::string(one.value));
  }
  return dimensions;
}

Outcome<GetMetricDataOutput> get_metric_data(Call& call, const GetMetricDataInput& input) {
  call.parts.observe();
  if (input.queries.size() > kQueriesMax) {
    return invalid(fmt::format("A request can have at most {} queries.", kQueriesMax));
  }
  GetMetricDataOutput output;
  for (const MetricDataQuery& query : input.queries) {
    if (!query.return_data.value_or(true)) continue;
    output.results.push_back(TRY(one_result(call, input, query)));
  }
  return output;
}

Outcome<GetMetricStatisticsOutput> get_metric_statistics(Call& call,
                                                         const GetMetricStatisticsInput& input) {
  call.parts.observe();
  const CloudLine line = line_of(call, input.space, input.name, input.dimensions);
  RETURN_IF_ERROR(check_line(call, line));
  const seconds period = TRY(checked_period("Period", input.period));
  const Range range = TRY(range_of(call, input.start, input.end, period, kStatisticsPointsMax));
  std::vector<Column> columns;
  RETURN_IF_ERROR(add_columns(call, line, range, period, input.statistics, false, columns));
  RETURN_IF_ERROR(add_columns(call, line, range, period, input.extended_statistics, true, columns));
  if (columns.empty()) {
    return fail(ErrorCode::missing_parameter, "Statistics or ExtendedStatistics are required.");
  }
  const auto* const metric = metrics::find_cloud_metric(line.space, line.name);
  GetMetricStatisticsOutput output{.label = input.name, .points = {}};
  for (std::size_t i = 0; i < columns.front().numbers.size(); ++i) {
    if (!columns.front().numbers[i]) continue;
    Datapoint& point = output.points.emplace_back();
    point.time = reported(call, range.from + period * static_cast<std::int64_t>(i));
    set_columns(point, columns, i);
    point.unit = metric->unit;
  }
  return output;
}

Outcome<ListMetricsOutput> list_metrics(Call& call, const ListMetricsInput& input) {
  call.parts.observe();
  const std::size_t skip = parse_int<std::size_t>(input.next_token).value_or(0);
  std::size_t found = 0;
  ListMetricsOutput output;
  for (const ListedSubject& subject : listed_subjects(call, input)) {
    for (const metrics::CloudMetric& metric : metrics::cloud_metrics()) {
      const bool wanted = (input.space.empty() || metric.space == input.space) &&
                          (input.name.empty() || metric.name == input.name) &&
                          subject.has(call.parts.history, metric);
      if (!wanted || found++ < skip || output.metrics.size() >= kListedMax) continue;
      output.metrics.push_back(
          {.space = metric.space,
           .name = metric.name,
           .dimensions = {{metrics::dimension_of(metric.scope), call.keep(subject.value)}}});
    }
  }
  const std::size_t next = skip + output.metrics.size();
  if (found > next) output.next_token = call.keep(std::to_string(next));
  return output;
}

}  // namespace redrive::cloudwatch
