// Alarms as CloudWatch has them.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <map>

#include "aws/cloudwatch/call.h"
#include "base/text.h"
#include "observe/alarms/evaluate.h"
#include "observe/alarms/history_data.h"
#include "observe/alarms/watcher.h"

namespace redrive::cloudwatch {
namespace {

using alarms::Alarm;
using alarms::AlarmKey;
using std::chrono::seconds;

constexpr std::size_t kNameBytesMax = 255;
constexpr std::size_t kDescriptionBytesMax = 1024;
constexpr std::size_t kActionsMax = 5;
constexpr std::size_t kDimensionsMax = 30;
constexpr std::size_t kTagsMax = 50;
constexpr std::size_t kDescribedMax = 100;
constexpr std::size_t kReasonBytesMax = 1023;
constexpr std::size_t kReasonDataBytesMax = 4000;

std::unexpected<Error> not_valid(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

AlarmKey key_for(const Call& call, std::string_view name) {
  return {call.caller().account, call.caller().region, std::string(name)};
}

Result<std::string> required(std::string_view name, std::string_view value) {
  if (!value.empty()) return std::string(value);
  return fail(ErrorCode::missing_parameter,
              fmt::format("The request must contain the parameter {}.", name));
}

Result<void> check_name(std::string_view name) {
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (name.size() <= kNameBytesMax && !control) return {};
  return not_valid("AlarmName must have 1 to 255 characters, without control characters.");
}

Result<std::vector<std::string>> checked_actions(std::string_view list, const Texts& given) {
  if (given.size() > kActionsMax) {
    return not_valid(fmt::format("{} can have at most {} items.", list, kActionsMax));
  }
  std::vector<std::string> actions(given.begin(), given.end());
  for (const std::string& action : actions) {
    const auto kind = alarms::Target::parse(action, false).kind;
    const bool local = kind == alarms::Target::Kind::mail || kind == alarms::Target::Kind::command;
    if (action.size() > 1024 || local ||
        (!action.starts_with("arn:") && kind == alarms::Target::Kind::unknown)) {
      return not_valid(fmt::format(
          "{} must contain ARNs or webhooks; commands and mail are allowed only in redrive.toml.",
          list));
    }
  }
  return actions;
}

Result<void> check_times(const Alarm& alarm) {
  const std::int64_t period = alarm.period.count();
  const bool fits =
      period == 10 || period == 20 || period == 30 || (period > 0 && period % 60 == 0);
  if (!fits) return not_valid("Period must be 10, 20, 30 or a multiple of 60.");
  const std::int64_t span = period * alarm.rule.periods;
  if (span > 604'800 || (period < 3'600 && span > 86'400)) {
    return not_valid(
        "Period times EvaluationPeriods must not exceed a day, or seven when Period is an hour or "
        "more.");
  }
  return {};
}

Result<std::map<std::string, std::string>> tags_of(const TagList& list) {
  std::map<std::string, std::string> tags;
  for (const Tag& tag : list) tags[std::string(tag.key)] = tag.value;
  if (tags.size() > kTagsMax) return not_valid("At most 50 tags are allowed.");
  return tags;
}

Result<std::uint32_t> checked_count(std::string_view name, std::int64_t count, std::int64_t max) {
  if (count < 1 || count > max) {
    return not_valid(fmt::format("{} must be between 1 and {}.", name, max));
  }
  return static_cast<std::uint32_t>(count);
}

Result<std::size_t> records_max(std::optional<std::int64_t> given) {
  return TRY(checked_count("MaxRecords", given.value_or(kDescribedMax), kDescribedMax));
}

Result<alarms::Rule> rule_of(const PutMetricAlarmInput& input) {
  alarms::Rule rule;
  rule.periods = TRY(checked_count("EvaluationPeriods", input.evaluation_periods, 86'400));
  rule.to_alarm = TRY(checked_count(
      "DatapointsToAlarm", input.datapoints_to_alarm.value_or(rule.periods), rule.periods));
  rule.threshold = input.threshold.value;
  const auto comparison = alarms::parse_comparison(std::string(input.comparison));
  if (!comparison) return not_valid("ComparisonOperator is not supported.");
  rule.comparison = *comparison;
  const std::string missing(input.missing_data.value_or(""));
  const auto treatment = alarms::parse_missing(missing.empty() ? "missing" : missing);
  if (!treatment) {
    return not_valid("TreatMissingData must be missing, ignore, breaching or notBreaching.");
  }
  rule.missing = *treatment;
  return rule;
}

Result<std::string> checked_statistic(const PutMetricAlarmInput& input) {
  if (input.statistic.empty() == input.extended_statistic.empty()) {
    return not_valid("Either Statistic or ExtendedStatistic is required.");
  }
  const bool plain = input.extended_statistic.empty();
  const std::string name(plain ? input.statistic : input.extended_statistic);
  const auto statistic = metrics::Statistic::parse(name);
  if (statistic && statistic->is_percentile() != plain) return name;
  return not_valid(fmt::format("The statistic {} is not supported.", name));
}

Result<Alarm> alarm_of(const Call& call, const PutMetricAlarmInput& input) {
  if (!input.metrics.empty()) {
    return not_valid("Metric math is not supported: an alarm requires a MetricName.");
  }
  RETURN_IF_ERROR(check_name(input.alarm_name));
  if (input.description.size() > kDescriptionBytesMax) {
    return not_valid("AlarmDescription can have at most 1024 characters.");
  }
  Alarm alarm;
  alarm.account = call.caller().account;
  alarm.region = call.caller().region;
  alarm.name = input.alarm_name;
  alarm.description = input.description;
  alarm.space = TRY(required("Namespace", input.space));
  alarm.metric = TRY(required("MetricName", input.metric_name));
  alarm.statistic = TRY(checked_statistic(input));
  alarm.unit = input.unit;
  alarm.dimensions = dimensions_of(input.dimensions);
  if (alarm.dimensions.size() > kDimensionsMax) {
    return not_valid("At most 30 dimensions are allowed.");
  }
  alarm.period = seconds(TRY(checked_count("Period", input.period.value_or(0), 604'800)));
  alarm.rule = TRY(rule_of(input));
  alarm.to_alarm_given = input.datapoints_to_alarm.has_value();
  alarm.missing_given = input.missing_data.has_value();
  RETURN_IF_ERROR(check_times(alarm));
  alarm.actions_enabled = input.actions_enabled.value_or(true);
  alarm.ok_actions = TRY(checked_actions("OKActions", input.ok_actions));
  alarm.alarm_actions = TRY(checked_actions("AlarmActions", input.alarm_actions));
  alarm.insufficient_data_actions =
      TRY(checked_actions("InsufficientDataActions", input.insufficient_data_actions));
  alarm.tags = TRY(tags_of(input.tags));
  return alarm;
}

Texts texts_of(const std::vector<std::string>& list) {
  return {list.begin(), list.end()};
}

// A view of the alarm, which the call keeps.
AlarmView described(Call& call, Alarm found) {
  const Alarm& alarm = call.alarms.emplace_back(std::move(found));
  const bool percentile = alarm.statistic.starts_with('p');
  AlarmView view{.name = alarm.name,
                 .arn = call.keep(alarm.arn()),
                 .description = alarm.description,
                 .configured = alarm.configured,
                 .actions_enabled = alarm.actions_enabled,
                 .ok_actions = texts_of(alarm.ok_actions),
                 .alarm_actions = texts_of(alarm.alarm_actions),
                 .insufficient_data_actions = texts_of(alarm.insufficient_data_actions),
                 .state = alarms::name_of(alarm.condition.state),
                 .reason = alarm.condition.reason,
                 .reason_data = alarm.condition.reason_data,
                 .updated = alarm.condition.updated,
                 .transitioned = alarm.condition.transitioned,
                 .metric_name = alarm.metric,
                 .space = alarm.space,
                 .statistic = percentile ? std::string_view() : alarm.statistic,
                 .extended_statistic = percentile ? alarm.statistic : std::string_view(),
                 .dimensions = {},
                 .period = alarm.period.count(),
                 .unit = alarm.unit,
                 .evaluation_periods = alarm.rule.periods,
                 .threshold = {alarm.rule.threshold},
                 .comparison = alarms::name_of(alarm.rule.comparison)};
  for (const auto& [name, value] : alarm.dimensions) view.dimensions.push_back({name, value});
  if (alarm.to_alarm_given) view.datapoints_to_alarm = alarm.rule.to_alarm;
  if (alarm.missing_given) view.missing_data = alarms::name_of(alarm.rule.missing);
  return view;
}

Result<void> may_use(const Call& call, const Alarm& alarm) {
  return front::authorize_alarm(call.parts.engine,
                                call.caller(),
                                call.operation(),
                                {alarm.account, alarm.region, alarm.name, alarm.dimensions});
}

// An alarm by name. A missing one is not found, except for keys with patterns, which are denied.
Result<void> may_use_named(const Call& call, std::string_view name) {
  if (const auto alarm = call.parts.watcher.store().find(key_for(call, name))) {
    return may_use(call, *alarm);
  }
  const metrics::Dimensions none;
  return front::authorize_alarm(call.parts.engine,
                                call.caller(),
                                call.operation(),
                                {call.caller().account, call.caller().region, name, none});
}

Result<void> check_targets(const Call& call, const std::vector<std::string>& targets) {
  for (const std::string& target : targets) {
    RETURN_IF_ERROR(
        front::authorize_target(call.parts.engine, call.caller(), target, call.parts.bucket_owner));
  }
  return {};
}

// An alarm acts on behalf of the callers that create it, set its state, or enable its actions.
Result<void> check_all_targets(const Call& call, const Alarm& alarm) {
  RETURN_IF_ERROR(check_targets(call, alarm.alarm_actions));
  RETURN_IF_ERROR(check_targets(call, alarm.ok_actions));
  return check_targets(call, alarm.insufficient_data_actions);
}

// After authorisation, since the answer says which queues and functions there are.
Result<void> check_all_reachable(const Call& call, const Alarm& alarm) {
  RETURN_IF_ERROR(call.parts.watcher.check_reachable(alarm.alarm_actions));
  RETURN_IF_ERROR(call.parts.watcher.check_reachable(alarm.ok_actions));
  return call.parts.watcher.check_reachable(alarm.insufficient_data_actions);
}

// The alarms of the caller's account and region that the caller may see.
std::vector<Alarm> own_alarms(const Call& call) {
  std::vector<Alarm> all = call.parts.watcher.store().all();
  std::erase_if(all, [&](const Alarm& alarm) {
    return alarm.account != call.caller().account || alarm.region != call.caller().region ||
           !may_use(call, alarm);
  });
  return all;
}

Result<void> for_named(Call& call, const Texts& names, const std::function<void(Alarm&)>& edit) {
  for (const std::string_view name : names) RETURN_IF_ERROR(may_use_named(call, name));
  for (const std::string_view name : names) {
    const auto done = call.parts.watcher.store().change(key_for(call, name), edit);
    if (!done && done.error().code != ErrorCode::resource_not_found) {
      return std::unexpected(done.error());
    }
  }
  return {};
}

Result<void> check_reason(const alarms::Condition& condition) {
  if (condition.reason.size() > kReasonBytesMax) {
    return not_valid(fmt::format("StateReason can have at most {} characters.", kReasonBytesMax));
  }
  if (condition.reason_data.size() > kReasonDataBytesMax) {
    return not_valid(
        fmt::format("StateReasonData can have at most {} characters.", kReasonDataBytesMax));
  }
  simdjson::dom::parser parser;
  if (!condition.reason_data.empty() &&
      parser.parse(condition.reason_data).error() != simdjson::SUCCESS) {
    return not_valid("StateReasonData was not valid JSON.");
  }
  return {};
}

HistoryItemView view_of(Call& call, std::string_view alarm, const alarms::HistoryItem& item,
                        Duration wall_ahead) {
  HistoryItemView view{.alarm_name = alarm, .time = item.wall, .kind = alarms::name_of(item.kind)};
  if (item.delivery) {
    view.summary = call.keep(alarms::action_summary(*item.delivery));
    view.data = call.keep(alarms::action_data(*item.delivery, wall_ahead));
  } else {
    view.summary = call.keep(item.summary);
    view.data = call.keep(item.data.empty() ? "{}" : item.data);
  }
  return view;
}

Result<AlarmKey> key_of_arn(const Call& call, std::string_view arn) {
  const std::string prefix =
      fmt::format("arn:aws:cloudwatch:{}:{}:alarm:", call.caller().region, call.caller().account);
  if (!arn.starts_with(prefix)) {
    return fail(ErrorCode::resource_not_found, fmt::format("{} does not exist.", arn));
  }
  RETURN_IF_ERROR(may_use_named(call, arn.substr(prefix.size())));
  return key_for(call, arn.substr(prefix.size()));
}

// Which alarms DescribeAlarms returns.
bool fits(const DescribeAlarmsInput& input, const Alarm& alarm) {
  const auto has_action = [&](const std::vector<std::string>& actions) {
    return std::ranges::any_of(
        actions, [&](const auto& text) { return text.starts_with(input.action_prefix); });
  };
  const auto has = [](const Texts& list, std::string_view one) {
    return list.empty() || std::ranges::find(list, one) != list.end();
  };
  return has(input.alarm_types, "MetricAlarm") && has(input.alarm_names, alarm.name) &&
         alarm.name.starts_with(input.name_prefix) && alarm.name > input.next_token &&
         (input.state.empty() || alarms::name_of(alarm.condition.state) == input.state) &&
         (input.action_prefix.empty() || has_action(alarm.ok_actions) ||
          has_action(alarm.alarm_actions) || has_action(alarm.insufficient_data_actions));
}

}  // namespace

front::AuditNote audit_note(const PutMetricAlarmInput& input) {
  return {.resource = std::string(input.alarm_name)};
}
front::AuditNote audit_note(const SetAlarmStateInput& input) {
  return {.resource = std::string(input.alarm_name)};
}
front::AuditNote audit_note(const AlarmNamesInput& input) {
  return {.resource = fmt::format("{}", fmt::join(input.alarm_names, " "))};
}
front::AuditNote audit_note(const TagResourceInput& input) {
  return {.resource = std::string(input.resource_arn)};
}
front::AuditNote audit_note(const UntagResourceInput& input) {
  return {.resource = std::string(input.resource_arn)};
}

Outcome<void> put_metric_alarm(Call& call, const PutMetricAlarmInput& input) {
  Alarm alarm = TRY(alarm_of(call, input));
  RETURN_IF_ERROR(may_use(call, alarm));
  RETURN_IF_ERROR(check_all_targets(call, alarm));
  RETURN_IF_ERROR(check_all_reachable(call, alarm));
  // An alarm of that name is replaced.
  if (const auto before = call.parts.watcher.store().find(key_for(call, alarm.name))) {
    RETURN_IF_ERROR(may_use(call, *before));
  }
  RETURN_IF_ERROR(call.parts.watcher.store().put(std::move(alarm)));
  call.parts.look();  // A new alarm is evaluated at once.
  return {};
}

Outcome<DescribeAlarmsOutput> describe_alarms(Call& call, const DescribeAlarmsInput& input) {
  const std::size_t max = TRY(records_max(input.max_records));
  DescribeAlarmsOutput output;
  for (Alarm& alarm : own_alarms(call)) {
    if (!fits(input, alarm)) continue;
    if (output.metric_alarms.size() == max) {
      output.next_token = output.metric_alarms.back().name;
      break;
    }
    output.metric_alarms.push_back(described(call, std::move(alarm)));
  }
  return output;
}

Outcome<DescribeAlarmsForMetricOutput> describe_alarms_for_metric(
    Call& call, const DescribeAlarmsForMetricInput& input) {
  const metrics::Dimensions dimensions = dimensions_of(input.dimensions);
  DescribeAlarmsForMetricOutput output;
  for (Alarm& alarm : own_alarms(call)) {
    if (alarm.space == input.space && alarm.metric == input.metric_name &&
        alarm.dimensions == dimensions) {
      output.metric_alarms.push_back(described(call, std::move(alarm)));
    }
  }
  return output;
}

Outcome<void> delete_alarms(Call& call, const AlarmNamesInput& input) {
  for (const std::string_view name : input.alarm_names) RETURN_IF_ERROR(may_use_named(call, name));
  for (const std::string_view name : input.alarm_names) {
    call.parts.watcher.store().remove(key_for(call, name));
  }
  return {};
}

Outcome<void> set_alarm_state(Call& call, const SetAlarmStateInput& input) {
  const auto state = alarms::parse_state(std::string(input.state));
  if (!state) return not_valid("StateValue must be OK, ALARM or INSUFFICIENT_DATA.");
  const AlarmKey key = key_for(call, input.alarm_name);
  RETURN_IF_ERROR(may_use_named(call, input.alarm_name));
  if (const auto alarm = call.parts.watcher.store().find(key)) {
    RETURN_IF_ERROR(check_all_targets(call, *alarm));
  }
  const alarms::Condition condition{.state = *state,
                                    .reason = std::string(input.reason),
                                    .reason_data = std::string(input.reason_data)};
  RETURN_IF_ERROR(check_reason(condition));
  RETURN_IF_ERROR(call.parts.watcher.set_state(key, condition));
  return {};
}

Outcome<void> enable_alarm_actions(Call& call, const AlarmNamesInput& input) {
  for (const std::string_view name : input.alarm_names) {
    const auto alarm = call.parts.watcher.store().find(key_for(call, name));
    if (alarm) RETURN_IF_ERROR(check_all_targets(call, *alarm));
  }
  RETURN_IF_ERROR(
      for_named(call, input.alarm_names, [](Alarm& alarm) { alarm.actions_enabled = true; }));
  return {};
}

Outcome<void> disable_alarm_actions(Call& call, const AlarmNamesInput& input) {
  RETURN_IF_ERROR(
      for_named(call, input.alarm_names, [](Alarm& alarm) { alarm.actions_enabled = false; }));
  return {};
}

Outcome<DescribeAlarmHistoryOutput> describe_alarm_history(Call& call,
                                                           const DescribeAlarmHistoryInput& input) {
  const std::size_t max = TRY(records_max(input.max_records));
  Texts names;
  if (input.alarm_name.empty()) {
    for (const Alarm& alarm : own_alarms(call)) names.push_back(call.keep(alarm.name));
  } else {
    RETURN_IF_ERROR(may_use_named(call, input.alarm_name));
    names.push_back(input.alarm_name);
  }
  const Duration wall_ahead = call.parts.engine.wall() - call.parts.engine.now();
  DescribeAlarmHistoryOutput output;
  for (const std::string_view name : names) {
    for (const auto& item : call.parts.watcher.store().history(key_for(call, name))) {
      if (!input.kind.empty() && alarms::name_of(item.kind) != input.kind) continue;
      if (output.items.size() >= max) continue;
      output.items.push_back(view_of(call, name, item, wall_ahead));
    }
  }
  return output;
}

Outcome<EmptyOutput> tag_resource(Call& call, const TagResourceInput& input) {
  const AlarmKey key = TRY(key_of_arn(call, input.resource_arn));
  const auto tags = TRY(tags_of(input.tags));
  RETURN_IF_ERROR(call.parts.watcher.store().change(key, [&](Alarm& alarm) {
    for (const auto& [name, value] : tags) alarm.tags[name] = value;
  }));
  return EmptyOutput{};
}

Outcome<EmptyOutput> untag_resource(Call& call, const UntagResourceInput& input) {
  const AlarmKey key = TRY(key_of_arn(call, input.resource_arn));
  RETURN_IF_ERROR(call.parts.watcher.store().change(key, [&](Alarm& alarm) {
    for (const std::string_view name : input.keys) alarm.tags.erase(std::string(name));
  }));
  return EmptyOutput{};
}

Outcome<ListTagsForResourceOutput> list_tags_for_resource(Call& call,
                                                          const ListTagsForResourceInput& input) {
  const AlarmKey key = TRY(key_of_arn(call, input.resource_arn));
  const auto alarm = call.parts.watcher.store().find(key);
  if (!alarm) {
    return fail(ErrorCode::resource_not_found,
                fmt::format("There is no alarm named {}.", key.name));
  }
  ListTagsForResourceOutput output;
  for (const auto& [name, value] : alarm->tags) {
    output.tags.push_back({call.keep(name), call.keep(value)});
  }
  return output;
}

}  // namespace redrive::cloudwatch
