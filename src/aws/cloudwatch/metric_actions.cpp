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

metrics::Dimensions dimensions_at(const Parameters& parameters, const std::string& list) {
  metrics::Dimensions dimensions;
  for (const std::string& item : parameters.items(list)) {
    dimensions.emplace_back(parameters.text(item + ".Name"), parameters.text(item + ".Value"));
  }
  return dimensions;
}

Result<CloudLine> line_at(const Call& call, const std::string& prefix) {
  return CloudLine{.account = call.caller.account,
                   .region = call.caller.region,
                   .space = TRY(call.parameters.required(prefix + "Namespace")),
                   .name = TRY(call.parameters.required(prefix + "MetricName")),
                   .dimensions = dimensions_at(call.parameters, prefix + "Dimensions")};
}

// A line that names nothing here has no numbers, and needs no right.
Result<void> check_line(const Call& call, const CloudLine& line) {
  const auto* const metric = metrics::find_cloud_metric(line.space, line.name);
  if (metric == nullptr || line.dimensions.size() != 1) return {};
  const std::string name =
      subject_name(metric->scope, line.account, line.region, line.dimensions.front().second);
  return front::authorize_metrics(
      call.parts.engine, call.parts.gate, call.caller, call.operation, {metric->scope, name});
}

Result<seconds> period_at(const Call& call, const std::string& name) {
  const std::int64_t period = TRY(call.parameters.integer(name)).value_or(0);
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

Result<Range> range_of(const Call& call, seconds period, std::int64_t points_max) {
  const auto start = TRY(call.parameters.time("StartTime"));
  const auto end = TRY(call.parameters.time("EndTime"));
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

// Times are told by the second, whatever the wall and the engine disagree about below it.
Timestamp told(const Call& call, Timestamp moment) {
  return Timestamp((moment + call.wall_ahead).ms() / 1000 * 1000);
}

Result<Value> one_result(Call& call, const std::string& query) {
  const Parameters& parameters = call.parameters;
  const std::string id = TRY(parameters.required(query + ".Id"));
  if (parameters.find(query + ".Expression")) {
    return invalid("Metric math is not supported: a query requires a MetricStat.");
  }
  const CloudLine line = TRY(line_at(call, query + ".MetricStat.Metric."));
  RETURN_IF_ERROR(check_line(call, line));
  const seconds period = TRY(period_at(call, query + ".MetricStat.Period"));
  const auto statistic = Statistic::parse(TRY(parameters.required(query + ".MetricStat.Stat")));
  if (!statistic) return invalid("The statistic is not supported.");
  const Range range = TRY(range_of(call, period, kDataPointsMax));
  const auto numbers =
      read_statistic(call.parts.history, line, *statistic, range.from, range.to, period);
  Value::List times;
  Value::List values;
  const auto add = [&](std::size_t i) {
    if (!numbers[i]) return;
    times.push_back(told(call, range.from + period * static_cast<std::int64_t>(i)));
    values.push_back(*numbers[i]);
  };
  const bool ascending = parameters.text("ScanBy") == "TimestampAscending";
  for (std::size_t i = 0; i < numbers.size(); ++i) add(ascending ? i : numbers.size() - 1 - i);
  Value result;
  const std::string label = parameters.text(query + ".Label");
  result.set("Id", id).set("Label", label.empty() ? line.name : label);
  result.set("Timestamps", std::move(times)).set("Values", std::move(values));
  result.set("StatusCode", "Complete");
  return result;
}

constexpr std::string_view kStatistics[] = {"SampleCount", "Average", "Sum", "Minimum", "Maximum"};

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
             call.parts.engine, call.parts.gate, call.caller, call.operation, subject)
      .has_value();
}

std::vector<ListedSubject> listed_subjects(const Call& call) {
  using metrics::Scope;
  const metrics::Dimensions filters = dimensions_at(call.parameters, "Dimensions");
  const bool recently = call.parameters.text("RecentlyActive") == "PT3H";
  const Timestamp since = recently ? call.parts.engine.now() - kRecent : Timestamp();
  std::vector<ListedSubject> found;
  for (const Scope scope : {Scope::queue, Scope::function, Scope::mapping}) {
    const std::string own =
        metrics::subject_name(scope, call.caller.account, call.caller.region, "");
    for (const metrics::Subject& subject : call.parts.history.subjects(scope, since)) {
      if (!subject.name.starts_with(own) || !sees_subject(call, subject)) continue;
      std::string value = subject.name.substr(own.size());
      const bool fits = std::ranges::all_of(filters, [&](const auto& filter) {
        return filter.first == metrics::dimension_of(scope) &&
               (filter.second.empty() || filter.second == value);
      });
      if (fits) found.push_back({subject, std::move(value)});
    }
  }
  return found;
}

struct Column {
  std::string name;
  bool plain;  // Not a percentile.
  std::vector<std::optional<double>> numbers;
};

void set_columns(Value& point, const std::vector<Column>& columns, std::size_t i) {
  Value::Map percentiles;
  for (const Column& column : columns) {
    const double number = column.numbers[i].value_or(0);
    if (!column.plain) {
      percentiles.emplace_back(column.name, number);
    } else {
      point.set(*std::ranges::find(kStatistics, column.name), number);
    }
  }
  if (!percentiles.empty()) point.set("ExtendedStatistics", std::move(percentiles));
}

}  // namespace

Result<Value> get_metric_data(Call& call) {
  call.parts.observe();
  const std::vector<std::string> queries = call.parameters.items("MetricDataQueries");
  if (queries.empty()) {
    return fail(ErrorCode::missing_parameter, "The parameter MetricDataQueries is required.");
  }
  if (queries.size() > kQueriesMax) {
    return invalid(fmt::format("A request can have at most {} queries.", kQueriesMax));
  }
  Value::List results;
  for (const std::string& query : queries) {
    const bool wanted = TRY(call.parameters.flag(query + ".ReturnData")).value_or(true);
    if (wanted) results.push_back(TRY(one_result(call, query)));
  }
  Value answer;
  answer.set("Messages", Value::List()).set("MetricDataResults", std::move(results));
  return answer;
}

Result<Value> get_metric_statistics(Call& call) {
  call.parts.observe();
  const CloudLine line = TRY(line_at(call, ""));
  RETURN_IF_ERROR(check_line(call, line));
  const seconds period = TRY(period_at(call, "Period"));
  const Range range = TRY(range_of(call, period, kStatisticsPointsMax));
  std::vector<Column> columns;
  for (const std::string_view list : {"Statistics", "ExtendedStatistics"}) {
    for (const std::string& name : call.parameters.texts(std::string(list))) {
      const bool plain = std::ranges::find(kStatistics, name) != std::end(kStatistics);
      const auto statistic = Statistic::parse(name);
      if (!statistic || plain != (list == "Statistics")) {
        return invalid(fmt::format("The statistic {} is not supported.", name));
      }
      const auto& history = call.parts.history;
      columns.push_back(
          {name, plain, read_statistic(history, line, *statistic, range.from, range.to, period)});
    }
  }
  if (columns.empty()) {
    return fail(ErrorCode::missing_parameter, "Statistics or ExtendedStatistics are required.");
  }
  const auto* const metric = metrics::find_cloud_metric(line.space, line.name);
  Value::List points;
  for (std::size_t i = 0; i < columns.front().numbers.size(); ++i) {
    if (!columns.front().numbers[i]) continue;
    Value point;
    point.set("Timestamp", told(call, range.from + period * static_cast<std::int64_t>(i)));
    set_columns(point, columns, i);
    points.push_back(std::move(point.set("Unit", metric->unit)));
  }
  Value answer;
  answer.set("Label", line.name).set("Datapoints", std::move(points));
  return answer;
}

Result<Value> list_metrics(Call& call) {
  call.parts.observe();
  const std::string space = call.parameters.text("Namespace");
  const std::string name = call.parameters.text("MetricName");
  const std::string token = call.parameters.text("NextToken");
  const std::size_t skip = parse_int<std::size_t>(token.empty() ? "0" : token).value_or(0);
  std::size_t found = 0;
  Value::List listed;
  for (const ListedSubject& subject : listed_subjects(call)) {
    for (const metrics::CloudMetric& metric : metrics::cloud_metrics()) {
      const bool wanted = (space.empty() || metric.space == space) &&
                          (name.empty() || metric.name == name) &&
                          subject.has(call.parts.history, metric);
      if (!wanted || found++ < skip || listed.size() >= kListedMax) continue;
      Value::List dimensions;
      dimensions.push_back(
          Value().set("Name", metrics::dimension_of(metric.scope)).set("Value", subject.value));
      listed.push_back(Value()
                           .set("Namespace", metric.space)
                           .set("MetricName", metric.name)
                           .set("Dimensions", std::move(dimensions)));
    }
  }
  Value answer;
  const std::size_t next = skip + listed.size();
  answer.set("Metrics", std::move(listed));
  if (found > next) answer.set("NextToken", std::to_string(next));
  return answer;
}

}  // namespace redrive::cloudwatch
