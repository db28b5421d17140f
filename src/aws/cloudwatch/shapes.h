#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "net/wire/shape.h"

// What travels: the inputs and outputs of the actions.

namespace redrive::cloudwatch {

using Texts = std::vector<std::string_view>;

struct Dimension {
  std::string_view name;
  std::string_view value;
};
consteval auto shape_of(Dimension*) {
  return wire::shape(wire::required("Name", &Dimension::name),
                     wire::required("Value", &Dimension::value));
}
using DimensionList = std::vector<Dimension>;

struct Tag {
  std::string_view key;
  std::string_view value;
};
consteval auto shape_of(Tag*) {
  return wire::shape(wire::required("Key", &Tag::key).filled(),
                     wire::required("Value", &Tag::value));
}
using TagList = std::vector<Tag>;

// ---- Metrics

struct Metric {
  std::string_view space;
  std::string_view name;
  DimensionList dimensions;
};
consteval auto shape_of(Metric*) {
  return wire::shape(wire::required("Namespace", &Metric::space).filled(),
                     wire::required("MetricName", &Metric::name).filled(),
                     wire::optional("Dimensions", &Metric::dimensions).members());
}

struct MetricStat {
  Metric metric;
  std::int64_t period = 0;
  std::string_view statistic;
};
consteval auto shape_of(MetricStat*) {
  return wire::shape(wire::required("Metric", &MetricStat::metric),
                     wire::optional("Period", &MetricStat::period),
                     wire::required("Stat", &MetricStat::statistic).filled());
}

struct MetricDataQuery {
  std::string_view id;
  std::optional<std::string_view> expression;
  std::optional<MetricStat> stat;
  std::string_view label;
  std::optional<bool> return_data;
};
consteval auto shape_of(MetricDataQuery*) {
  using In = MetricDataQuery;
  return wire::shape(wire::required("Id", &In::id).filled(),
                     wire::optional("Expression", &In::expression),
                     wire::optional("MetricStat", &In::stat),
                     wire::optional("Label", &In::label),
                     wire::optional("ReturnData", &In::return_data));
}

struct GetMetricDataInput {
  std::vector<MetricDataQuery> queries;
  std::optional<Timestamp> start;
  std::optional<Timestamp> end;
  std::string_view scan_by;
};
consteval auto shape_of(GetMetricDataInput*) {
  using In = GetMetricDataInput;
  return wire::shape(wire::required("MetricDataQueries", &In::queries).members(),
                     wire::optional("StartTime", &In::start),
                     wire::optional("EndTime", &In::end),
                     wire::optional("ScanBy", &In::scan_by));
}
struct MetricDataResult {
  std::string_view id;
  std::string_view label;
  std::vector<Timestamp> times;
  std::vector<wire::Decimal> values;
  std::string_view status = "Complete";
};
consteval auto shape_of(MetricDataResult*) {
  using Out = MetricDataResult;
  return wire::shape(wire::required("Id", &Out::id),
                     wire::required("Label", &Out::label),
                     wire::optional("Timestamps", &Out::times).members().always(),
                     wire::optional("Values", &Out::values).members().always(),
                     wire::required("StatusCode", &Out::status));
}
struct GetMetricDataOutput {
  Texts messages;  // There are none.
  std::vector<MetricDataResult> results;
};
consteval auto shape_of(GetMetricDataOutput*) {
  using Out = GetMetricDataOutput;
  return wire::shape(wire::optional("Messages", &Out::messages).members().always(),
                     wire::optional("MetricDataResults", &Out::results).members().always());
}

struct GetMetricStatisticsInput {
  std::string_view space;
  std::string_view name;
  DimensionList dimensions;
  std::optional<Timestamp> start;
  std::optional<Timestamp> end;
  std::int64_t period = 0;
  Texts statistics;
  Texts extended_statistics;
};
consteval auto shape_of(GetMetricStatisticsInput*) {
  using In = GetMetricStatisticsInput;
  return wire::shape(wire::required("Namespace", &In::space).filled(),
                     wire::required("MetricName", &In::name).filled(),
                     wire::optional("Dimensions", &In::dimensions).members(),
                     wire::optional("StartTime", &In::start),
                     wire::optional("EndTime", &In::end),
                     wire::optional("Period", &In::period),
                     wire::optional("Statistics", &In::statistics).members(),
                     wire::optional("ExtendedStatistics", &In::extended_statistics).members());
}
struct Datapoint {
  Timestamp time;
  std::optional<wire::Decimal> sample_count;
  std::optional<wire::Decimal> average;
  std::optional<wire::Decimal> minimum;
  std::optional<wire::Decimal> maximum;
  std::optional<wire::Decimal> sum;
  std::vector<std::pair<std::string_view, wire::Decimal>> percentiles;
  std::string_view unit;
};
consteval auto shape_of(Datapoint*) {
  using Out = Datapoint;
  return wire::shape(wire::required("Timestamp", &Out::time),
                     wire::optional("SampleCount", &Out::sample_count),
                     wire::optional("Average", &Out::average),
                     wire::optional("Minimum", &Out::minimum),
                     wire::optional("Maximum", &Out::maximum),
                     wire::optional("Sum", &Out::sum),
                     wire::optional("ExtendedStatistics", &Out::percentiles)
                         .each("entry", "key", "value")
                         .wrapped(),
                     wire::required("Unit", &Out::unit));
}
struct GetMetricStatisticsOutput {
  std::string_view label;
  std::vector<Datapoint> points;
};
consteval auto shape_of(GetMetricStatisticsOutput*) {
  using Out = GetMetricStatisticsOutput;
  return wire::shape(wire::required("Label", &Out::label),
                     wire::optional("Datapoints", &Out::points).members().always());
}

struct DimensionFilter {
  std::string_view name;
  std::string_view value;  // Empty: any.
};
consteval auto shape_of(DimensionFilter*) {
  return wire::shape(wire::required("Name", &DimensionFilter::name),
                     wire::optional("Value", &DimensionFilter::value));
}
struct ListMetricsInput {
  std::string_view space;
  std::string_view name;
  std::vector<DimensionFilter> dimensions;
  std::string_view recently_active;
  std::string_view next_token;
};
consteval auto shape_of(ListMetricsInput*) {
  using In = ListMetricsInput;
  return wire::shape(wire::optional("Namespace", &In::space),
                     wire::optional("MetricName", &In::name),
                     wire::optional("Dimensions", &In::dimensions).members(),
                     wire::optional("RecentlyActive", &In::recently_active),
                     wire::optional("NextToken", &In::next_token));
}
struct ListMetricsOutput {
  std::vector<Metric> metrics;
  std::string_view next_token;
};
consteval auto shape_of(ListMetricsOutput*) {
  using Out = ListMetricsOutput;
  return wire::shape(wire::optional("Metrics", &Out::metrics).members().always(),
                     wire::optional("NextToken", &Out::next_token));
}

// ---- Alarms

// A query of metric math, which is refused.
struct AlarmMetric {
  std::string_view id;
};
consteval auto shape_of(AlarmMetric*) {
  return wire::shape(wire::optional("Id", &AlarmMetric::id));
}

// Namespace and MetricName are required, except in alarms with metric math, which have an error of
// their own.
struct PutMetricAlarmInput {
  std::string_view alarm_name;
  std::string_view description;
  std::optional<bool> actions_enabled;
  Texts ok_actions;
  Texts alarm_actions;
  Texts insufficient_data_actions;
  std::string_view metric_name;
  std::string_view space;
  std::string_view statistic;
  std::string_view extended_statistic;
  DimensionList dimensions;
  std::optional<std::int64_t> period;
  std::string_view unit;
  std::int64_t evaluation_periods = 0;
  std::optional<std::int64_t> datapoints_to_alarm;
  wire::Decimal threshold;
  std::string_view comparison;
  std::optional<std::string_view> missing_data;
  std::vector<AlarmMetric> metrics;
  TagList tags;
};
consteval auto shape_of(PutMetricAlarmInput*) {
  using In = PutMetricAlarmInput;
  return wire::shape(
      wire::required("AlarmName", &In::alarm_name).filled(),
      wire::optional("AlarmDescription", &In::description),
      wire::optional("ActionsEnabled", &In::actions_enabled),
      wire::optional("OKActions", &In::ok_actions).members(),
      wire::optional("AlarmActions", &In::alarm_actions).members(),
      wire::optional("InsufficientDataActions", &In::insufficient_data_actions).members(),
      wire::optional("MetricName", &In::metric_name),
      wire::optional("Namespace", &In::space),
      wire::optional("Statistic", &In::statistic),
      wire::optional("ExtendedStatistic", &In::extended_statistic),
      wire::optional("Dimensions", &In::dimensions).members(),
      wire::optional("Period", &In::period),
      wire::optional("Unit", &In::unit),
      wire::required("EvaluationPeriods", &In::evaluation_periods),
      wire::optional("DatapointsToAlarm", &In::datapoints_to_alarm),
      wire::required("Threshold", &In::threshold),
      wire::required("ComparisonOperator", &In::comparison).filled(),
      wire::optional("TreatMissingData", &In::missing_data),
      wire::optional("Metrics", &In::metrics).members(),
      wire::optional("Tags", &In::tags).members());
}

struct AlarmView {
  std::string_view name;
  std::string_view arn;
  std::string_view description;
  Timestamp configured;
  bool actions_enabled = true;
  Texts ok_actions;
  Texts alarm_actions;
  Texts insufficient_data_actions;
  std::string_view state;
  std::string_view reason;
  std::string_view reason_data;
  Timestamp updated;
  Timestamp transitioned;
  std::string_view metric_name;
  std::string_view space;
  std::string_view statistic;           // One of these
  std::string_view extended_statistic;  // two is empty.
  DimensionList dimensions;
  std::int64_t period = 0;
  std::string_view unit;
  std::int64_t evaluation_periods = 0;
  std::optional<std::int64_t> datapoints_to_alarm;
  wire::Decimal threshold;
  std::string_view comparison;
  std::string_view missing_data;  // Empty: the alarm was put without.
  Texts metrics;                  // There is no metric math.
};
consteval auto shape_of(AlarmView*) {
  using Out = AlarmView;
  return wire::shape(
      wire::required("AlarmName", &Out::name),
      wire::required("AlarmArn", &Out::arn),
      wire::optional("AlarmDescription", &Out::description),
      wire::required("AlarmConfigurationUpdatedTimestamp", &Out::configured),
      wire::required("ActionsEnabled", &Out::actions_enabled),
      wire::optional("OKActions", &Out::ok_actions).members().always(),
      wire::optional("AlarmActions", &Out::alarm_actions).members().always(),
      wire::optional("InsufficientDataActions", &Out::insufficient_data_actions).members().always(),
      wire::required("StateValue", &Out::state),
      wire::required("StateReason", &Out::reason),
      wire::optional("StateReasonData", &Out::reason_data),
      wire::required("StateUpdatedTimestamp", &Out::updated),
      wire::required("StateTransitionedTimestamp", &Out::transitioned),
      wire::required("MetricName", &Out::metric_name),
      wire::required("Namespace", &Out::space),
      wire::optional("Statistic", &Out::statistic),
      wire::optional("ExtendedStatistic", &Out::extended_statistic),
      wire::optional("Dimensions", &Out::dimensions).members().always(),
      wire::required("Period", &Out::period),
      wire::optional("Unit", &Out::unit),
      wire::required("EvaluationPeriods", &Out::evaluation_periods),
      wire::optional("DatapointsToAlarm", &Out::datapoints_to_alarm),
      wire::required("Threshold", &Out::threshold),
      wire::required("ComparisonOperator", &Out::comparison),
      wire::optional("TreatMissingData", &Out::missing_data),
      wire::optional("Metrics", &Out::metrics).members().always());
}
using AlarmViews = std::vector<AlarmView>;

struct DescribeAlarmsInput {
  Texts alarm_names;
  Texts alarm_types;
  std::string_view name_prefix;
  std::string_view state;
  std::string_view action_prefix;
  std::string_view next_token;
  std::optional<std::int64_t> max_records;
};
consteval auto shape_of(DescribeAlarmsInput*) {
  using In = DescribeAlarmsInput;
  return wire::shape(wire::optional("AlarmNames", &In::alarm_names).members(),
                     wire::optional("AlarmTypes", &In::alarm_types).members(),
                     wire::optional("AlarmNamePrefix", &In::name_prefix),
                     wire::optional("StateValue", &In::state),
                     wire::optional("ActionPrefix", &In::action_prefix),
                     wire::optional("NextToken", &In::next_token),
                     wire::optional("MaxRecords", &In::max_records));
}
struct DescribeAlarmsOutput {
  Texts composite_alarms;  // There are none.
  AlarmViews metric_alarms;
  std::string_view next_token;
};
consteval auto shape_of(DescribeAlarmsOutput*) {
  using Out = DescribeAlarmsOutput;
  return wire::shape(wire::optional("CompositeAlarms", &Out::composite_alarms).members().always(),
                     wire::optional("MetricAlarms", &Out::metric_alarms).members().always(),
                     wire::optional("NextToken", &Out::next_token));
}

struct DescribeAlarmsForMetricInput {
  std::string_view space;
  std::string_view metric_name;
  DimensionList dimensions;
};
consteval auto shape_of(DescribeAlarmsForMetricInput*) {
  using In = DescribeAlarmsForMetricInput;
  return wire::shape(wire::required("Namespace", &In::space).filled(),
                     wire::required("MetricName", &In::metric_name).filled(),
                     wire::optional("Dimensions", &In::dimensions).members());
}
struct DescribeAlarmsForMetricOutput {
  AlarmViews metric_alarms;
};
consteval auto shape_of(DescribeAlarmsForMetricOutput*) {
  using Out = DescribeAlarmsForMetricOutput;
  return wire::shape(wire::optional("MetricAlarms", &Out::metric_alarms).members().always());
}

struct DescribeAlarmHistoryInput {
  std::string_view alarm_name;
  std::string_view kind;
  std::optional<std::int64_t> max_records;
};
consteval auto shape_of(DescribeAlarmHistoryInput*) {
  using In = DescribeAlarmHistoryInput;
  return wire::shape(wire::optional("AlarmName", &In::alarm_name),
                     wire::optional("HistoryItemType", &In::kind),
                     wire::optional("MaxRecords", &In::max_records));
}
struct HistoryItemView {
  std::string_view alarm_name;
  std::string_view alarm_type = "MetricAlarm";
  Timestamp time;
  std::string_view kind;
  std::string_view summary;
  std::string_view data;
};
consteval auto shape_of(HistoryItemView*) {
  using Out = HistoryItemView;
  return wire::shape(wire::required("AlarmName", &Out::alarm_name),
                     wire::required("AlarmType", &Out::alarm_type),
                     wire::required("Timestamp", &Out::time),
                     wire::required("HistoryItemType", &Out::kind),
                     wire::required("HistorySummary", &Out::summary),
                     wire::required("HistoryData", &Out::data));
}
struct DescribeAlarmHistoryOutput {
  std::vector<HistoryItemView> items;
};
consteval auto shape_of(DescribeAlarmHistoryOutput*) {
  using Out = DescribeAlarmHistoryOutput;
  return wire::shape(wire::optional("AlarmHistoryItems", &Out::items).members().always());
}

struct SetAlarmStateInput {
  std::string_view alarm_name;
  std::string_view state;
  std::string_view reason;
  std::string_view reason_data;
};
consteval auto shape_of(SetAlarmStateInput*) {
  using In = SetAlarmStateInput;
  return wire::shape(wire::required("AlarmName", &In::alarm_name).filled(),
                     wire::required("StateValue", &In::state).filled(),
                     wire::required("StateReason", &In::reason).filled(),
                     wire::optional("StateReasonData", &In::reason_data));
}

// For DeleteAlarms and the two that switch actions.
struct AlarmNamesInput {
  Texts alarm_names;
};
consteval auto shape_of(AlarmNamesInput*) {
  return wire::shape(wire::optional("AlarmNames", &AlarmNamesInput::alarm_names).members());
}

// ---- Tags

// An empty result, which is not the same to clients as none.
struct EmptyOutput {};
consteval auto shape_of(EmptyOutput*) {
  return wire::shape();
}

struct TagResourceInput {
  std::string_view resource_arn;
  TagList tags;
};
consteval auto shape_of(TagResourceInput*) {
  using In = TagResourceInput;
  return wire::shape(wire::required("ResourceARN", &In::resource_arn).filled(),
                     wire::optional("Tags", &In::tags).members());
}

struct UntagResourceInput {
  std::string_view resource_arn;
  Texts keys;
};
consteval auto shape_of(UntagResourceInput*) {
  using In = UntagResourceInput;
  return wire::shape(wire::required("ResourceARN", &In::resource_arn).filled(),
                     wire::optional("TagKeys", &In::keys).members());
}

struct ListTagsForResourceInput {
  std::string_view resource_arn;
};
consteval auto shape_of(ListTagsForResourceInput*) {
  return wire::shape(
      wire::required("ResourceARN", &ListTagsForResourceInput::resource_arn).filled());
}
struct ListTagsForResourceOutput {
  TagList tags;
};
consteval auto shape_of(ListTagsForResourceOutput*) {
  using Out = ListTagsForResourceOutput;
  return wire::shape(wire::optional("Tags", &Out::tags).members().always());
}

}  // namespace redrive::cloudwatch
