// Alarms as CloudWatch has them.

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <set>

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

AlarmKey key_for(const Call& call, std::string name) {
  return {call.caller.account, call.caller.region, std::move(name)};
}

Result<std::string> checked_name(const Call& call) {
  std::string name = TRY(call.parameters.required("AlarmName"));
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (name.size() > kNameBytesMax || control) {
    return not_valid("AlarmName must have 1 to 255 characters, without control characters.");
  }
  return name;
}

Result<std::vector<std::string>> checked_actions(const Call& call, const std::string& list) {
  std::vector<std::string> actions = call.parameters.texts(list);
  if (actions.size() > kActionsMax) {
    return not_valid(fmt::format("{} can have at most {} items.", list, kActionsMax));
  }
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

Result<std::map<std::string, std::string>> tags_at(const Call& call) {
  std::map<std::string, std::string> tags;
  for (const std::string& item : call.parameters.items("Tags")) {
    const std::string key = TRY(call.parameters.required(item + ".Key"));
    tags[key] = call.parameters.text(item + ".Value");
  }
  if (tags.size() > kTagsMax) return not_valid("At most 50 tags are allowed.");
  return tags;
}

Result<std::uint32_t> count_at(const Call& call, const std::string& name, std::int64_t otherwise,
                               std::int64_t max) {
  const std::int64_t count = TRY(call.parameters.integer(name)).value_or(otherwise);
  if (count < 1 || count > max) {
    return not_valid(fmt::format("{} must be between 1 and {}.", name, max));
  }
  return static_cast<std::uint32_t>(count);
}

Result<alarms::Rule> rule_at(const Call& call) {
  const Parameters& parameters = call.parameters;
  alarms::Rule rule;
  if (!parameters.find("EvaluationPeriods")) {
    return fail(ErrorCode::missing_parameter, "The parameter EvaluationPeriods is required.");
  }
  rule.periods = TRY(count_at(call, "EvaluationPeriods", 0, 86'400));
  rule.to_alarm = TRY(count_at(call, "DatapointsToAlarm", rule.periods, rule.periods));
  const auto threshold = TRY(parameters.number("Threshold"));
  if (!threshold) return fail(ErrorCode::missing_parameter, "The parameter Threshold is required.");
  rule.threshold = *threshold;
  const auto comparison = alarms::parse_comparison(TRY(parameters.required("ComparisonOperator")));
  if (!comparison) return not_valid("ComparisonOperator is not supported.");
  rule.comparison = *comparison;
  const std::string missing = parameters.text("TreatMissingData");
  const auto treatment = alarms::parse_missing(missing.empty() ? "missing" : missing);
  if (!treatment) {
    return not_valid("TreatMissingData must be missing, ignore, breaching or notBreaching.");
  }
  rule.missing = *treatment;
  return rule;
}

Result<Alarm> alarm_at(const Call& call) {
  const Parameters& parameters = call.parameters;
  if (!parameters.items("Metrics").empty()) {
    return not_valid("Metric math is not supported: an alarm requires a MetricName.");
  }
  Alarm alarm;
  alarm.account = call.caller.account;
  alarm.region = call.caller.region;
  alarm.name = TRY(checked_name(call));
  alarm.description = parameters.text("AlarmDescription");
  if (alarm.description.size() > kDescriptionBytesMax) {
    return not_valid("AlarmDescription can have at most 1024 characters.");
  }
  alarm.space = TRY(parameters.required("Namespace"));
  alarm.metric = TRY(parameters.required("MetricName"));
  alarm.statistic = parameters.text("Statistic");
  const std::string extended = parameters.text("ExtendedStatistic");
  if (alarm.statistic.empty() == extended.empty()) {
    return not_valid("Either Statistic or ExtendedStatistic is required.");
  }
  if (alarm.statistic.empty()) alarm.statistic = extended;
  const auto statistic = metrics::Statistic::parse(alarm.statistic);
  if (!statistic || statistic->is_percentile() == extended.empty()) {
    return not_valid(fmt::format("The statistic {} is not supported.", alarm.statistic));
  }
  alarm.unit = parameters.text("Unit");
  for (const std::string& item : parameters.items("Dimensions")) {
    alarm.dimensions.emplace_back(parameters.text(item + ".Name"),
                                  parameters.text(item + ".Value"));
  }
  if (alarm.dimensions.size() > kDimensionsMax)
    return not_valid("At most 30 dimensions are allowed.");
  alarm.period = seconds(TRY(count_at(call, "Period", 0, 604'800)));
  alarm.rule = TRY(rule_at(call));
  alarm.to_alarm_given = parameters.find("DatapointsToAlarm").has_value();
  alarm.missing_given = parameters.find("TreatMissingData").has_value();
  RETURN_IF_ERROR(check_times(alarm));
  alarm.actions_enabled = TRY(parameters.flag("ActionsEnabled")).value_or(true);
  alarm.ok_actions = TRY(checked_actions(call, "OKActions"));
  alarm.alarm_actions = TRY(checked_actions(call, "AlarmActions"));
  alarm.insufficient_data_actions = TRY(checked_actions(call, "InsufficientDataActions"));
  alarm.tags = TRY(tags_at(call));
  return alarm;
}

Value described(const Alarm& alarm) {
  Value::List dimensions;
  for (const auto& [name, value] : alarm.dimensions) {
    dimensions.push_back(Value().set("Name", name).set("Value", value));
  }
  Value value;
  value.set("AlarmName", alarm.name).set("AlarmArn", alarm.arn());
  if (!alarm.description.empty()) value.set("AlarmDescription", alarm.description);
  value.set("AlarmConfigurationUpdatedTimestamp", alarm.configured)
      .set("ActionsEnabled", alarm.actions_enabled)
      .set("OKActions", Value::texts(alarm.ok_actions))
      .set("AlarmActions", Value::texts(alarm.alarm_actions))
      .set("InsufficientDataActions", Value::texts(alarm.insufficient_data_actions))
      .set("StateValue", alarms::name_of(alarm.condition.state))
      .set("StateReason", alarm.condition.reason);
  if (!alarm.condition.reason_data.empty()) {
    value.set("StateReasonData", alarm.condition.reason_data);
  }
  value.set("StateUpdatedTimestamp", alarm.condition.updated)
      .set("StateTransitionedTimestamp", alarm.condition.transitioned)
      .set("MetricName", alarm.metric)
      .set("Namespace", alarm.space)
      .set(alarm.statistic.starts_with('p') ? "ExtendedStatistic" : "Statistic", alarm.statistic)
      .set("Dimensions", std::move(dimensions))
      .set("Period", std::int64_t{alarm.period.count()});
  if (!alarm.unit.empty()) value.set("Unit", alarm.unit);
  value.set("EvaluationPeriods", std::int64_t{alarm.rule.periods});
  if (alarm.to_alarm_given) value.set("DatapointsToAlarm", std::int64_t{alarm.rule.to_alarm});
  value.set("Threshold", alarm.rule.threshold)
      .set("ComparisonOperator", alarms::name_of(alarm.rule.comparison));
  if (alarm.missing_given) value.set("TreatMissingData", alarms::name_of(alarm.rule.missing));
  value.set("Metrics", Value::List());
  return value;
}

Result<void> may_use(const Call& call, const Alarm& alarm) {
  return front::authorize_alarm(call.parts.engine,
                                call.caller,
                                call.operation,
                                {alarm.account, alarm.region, alarm.name, alarm.dimensions});
}

// An alarm by name. A missing one is not found, except for keys with patterns, which are denied.
Result<void> may_use_named(const Call& call, const std::string& name) {
  if (const auto alarm = call.parts.watcher.store().find(key_for(call, name))) {
    return may_use(call, *alarm);
  }
  const metrics::Dimensions none;
  return front::authorize_alarm(call.parts.engine,
                                call.caller,
                                call.operation,
                                {call.caller.account, call.caller.region, name, none});
}

Result<void> check_targets(const Call& call, const std::vector<std::string>& targets) {
  for (const std::string& target : targets) {
    RETURN_IF_ERROR(
        front::authorize_target(call.parts.engine, call.caller, target, call.parts.bucket_owner));
  }
  return {};
}

// Whatever an alarm does is done in the name of those who make it, set it off, or let it act again.
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
    return alarm.account != call.caller.account || alarm.region != call.caller.region ||
           !may_use(call, alarm);
  });
  return all;
}

Result<void> for_named(Call& call, const std::function<void(Alarm&)>& edit) {
  for (const std::string& name : call.parameters.texts("AlarmNames")) {
    RETURN_IF_ERROR(may_use_named(call, name));
  }
  for (const std::string& name : call.parameters.texts("AlarmNames")) {
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

Value history_item(const std::string& alarm, const alarms::HistoryItem& item, Duration wall_ahead) {
  Value value;
  value.set("AlarmName", alarm)
      .set("AlarmType", "MetricAlarm")
      .set("Timestamp", item.wall)
      .set("HistoryItemType", alarms::name_of(item.kind));
  if (item.delivery) {
    value.set("HistorySummary", alarms::action_summary(*item.delivery))
        .set("HistoryData", alarms::action_data(*item.delivery, wall_ahead));
  } else {
    value.set("HistorySummary", item.summary)
        .set("HistoryData", item.data.empty() ? "{}" : item.data);
  }
  return value;
}

Result<AlarmKey> key_of_arn(const Call& call) {
  const std::string arn = TRY(call.parameters.required("ResourceARN"));
  const std::string prefix =
      fmt::format("arn:aws:cloudwatch:{}:{}:alarm:", call.caller.region, call.caller.account);
  if (!arn.starts_with(prefix)) {
    return fail(ErrorCode::resource_not_found, fmt::format("{} does not exist.", arn));
  }
  RETURN_IF_ERROR(may_use_named(call, arn.substr(prefix.size())));
  return key_for(call, arn.substr(prefix.size()));
}

}  // namespace

Result<Value> put_metric_alarm(Call& call) {
  Alarm alarm = TRY(alarm_at(call));
  RETURN_IF_ERROR(may_use(call, alarm));
  RETURN_IF_ERROR(check_all_targets(call, alarm));
  RETURN_IF_ERROR(check_all_reachable(call, alarm));
  // One of that name is replaced.
  if (const auto before = call.parts.watcher.store().find(key_for(call, alarm.name))) {
    RETURN_IF_ERROR(may_use(call, *before));
  }
  RETURN_IF_ERROR(call.parts.watcher.store().put(std::move(alarm)));
  call.parts.look();  // A new alarm is judged at once.
  return Value();
}

Result<Value> describe_alarms(Call& call) {
  const Parameters& parameters = call.parameters;
  const std::vector<std::string> named = parameters.texts("AlarmNames");
  const std::vector<std::string> types = parameters.texts("AlarmTypes");
  const std::set<std::string> names(named.begin(), named.end());
  const std::string prefix = parameters.text("AlarmNamePrefix");
  const std::string state = parameters.text("StateValue");
  const std::string action = parameters.text("ActionPrefix");
  const std::string after = parameters.text("NextToken");
  const std::size_t max =
      TRY(count_at(call, "MaxRecords", kDescribedMax, static_cast<std::int64_t>(kDescribedMax)));
  const bool metric_alarms = types.empty() || std::ranges::count(types, "MetricAlarm") > 0;
  const auto has_action = [&](const std::vector<std::string>& actions) {
    return std::ranges::any_of(actions, [&](const auto& text) { return text.starts_with(action); });
  };
  Value::List found;
  std::string last;
  std::string next;
  for (const Alarm& alarm : own_alarms(call)) {
    const bool wanted =
        metric_alarms && (names.empty() || names.contains(alarm.name)) &&
        alarm.name.starts_with(prefix) && alarm.name > after &&
        (state.empty() || alarms::name_of(alarm.condition.state) == state) &&
        (action.empty() || has_action(alarm.ok_actions) || has_action(alarm.alarm_actions) ||
         has_action(alarm.insufficient_data_actions));
    if (!wanted) continue;
    if (found.size() == max) {
      next = last;
      break;
    }
    found.push_back(described(alarm));
    last = alarm.name;
  }
  Value answer;
  answer.set("CompositeAlarms", Value::List()).set("MetricAlarms", std::move(found));
  if (!next.empty()) answer.set("NextToken", next);
  return answer;
}

Result<Value> describe_alarms_for_metric(Call& call) {
  const std::string space = TRY(call.parameters.required("Namespace"));
  const std::string metric = TRY(call.parameters.required("MetricName"));
  metrics::Dimensions dimensions;
  for (const std::string& item : call.parameters.items("Dimensions")) {
    dimensions.emplace_back(call.parameters.text(item + ".Name"),
                            call.parameters.text(item + ".Value"));
  }
  Value::List found;
  for (const Alarm& alarm : own_alarms(call)) {
    if (alarm.space == space && alarm.metric == metric && alarm.dimensions == dimensions) {
      found.push_back(described(alarm));
    }
  }
  Value answer;
  answer.set("MetricAlarms", std::move(found));
  return answer;
}

Result<Value> delete_alarms(Call& call) {
  const std::vector<std::string> names = call.parameters.texts("AlarmNames");
  for (const std::string& name : names) RETURN_IF_ERROR(may_use_named(call, name));
  for (const std::string& name : names) call.parts.watcher.store().remove(key_for(call, name));
  return Value();
}

Result<Value> set_alarm_state(Call& call) {
  const auto state = alarms::parse_state(TRY(call.parameters.required("StateValue")));
  if (!state) return not_valid("StateValue must be OK, ALARM or INSUFFICIENT_DATA.");
  const std::string name = TRY(call.parameters.required("AlarmName"));
  RETURN_IF_ERROR(may_use_named(call, name));
  if (const auto alarm = call.parts.watcher.store().find(key_for(call, name))) {
    RETURN_IF_ERROR(check_all_targets(call, *alarm));
  }
  alarms::Condition condition{.state = *state,
                              .reason = TRY(call.parameters.required("StateReason")),
                              .reason_data = call.parameters.text("StateReasonData")};
  RETURN_IF_ERROR(check_reason(condition));
  RETURN_IF_ERROR(call.parts.watcher.set_state(key_for(call, name), condition));
  return Value();
}

Result<Value> enable_alarm_actions(Call& call) {
  for (const std::string& name : call.parameters.texts("AlarmNames")) {
    const auto alarm = call.parts.watcher.store().find(key_for(call, name));
    if (alarm) RETURN_IF_ERROR(check_all_targets(call, *alarm));
  }
  RETURN_IF_ERROR(for_named(call, [](Alarm& alarm) { alarm.actions_enabled = true; }));
  return Value();
}

Result<Value> disable_alarm_actions(Call& call) {
  RETURN_IF_ERROR(for_named(call, [](Alarm& alarm) { alarm.actions_enabled = false; }));
  return Value();
}

Result<Value> describe_alarm_history(Call& call) {
  const std::string name = call.parameters.text("AlarmName");
  const std::string kind = call.parameters.text("HistoryItemType");
  const std::size_t max =
      TRY(count_at(call, "MaxRecords", kDescribedMax, static_cast<std::int64_t>(kDescribedMax)));
  std::vector<std::string> names;
  if (name.empty()) {
    for (const Alarm& alarm : own_alarms(call)) names.push_back(alarm.name);
  } else {
    RETURN_IF_ERROR(may_use_named(call, name));
    names.push_back(name);
  }
  const Duration wall_ahead = call.parts.engine.wall() - call.parts.engine.now();
  Value::List items;
  for (const std::string& one : names) {
    for (const auto& item : call.parts.watcher.store().history(key_for(call, one))) {
      if ((!kind.empty() && alarms::name_of(item.kind) != kind) || items.size() >= max) continue;
      items.push_back(history_item(one, item, wall_ahead));
    }
  }
  Value answer;
  answer.set("AlarmHistoryItems", std::move(items));
  return answer;
}

Result<Value> tag_resource(Call& call) {
  const AlarmKey key = TRY(key_of_arn(call));
  const auto tags = TRY(tags_at(call));
  RETURN_IF_ERROR(call.parts.watcher.store().change(key, [&](Alarm& alarm) {
    for (const auto& [name, value] : tags) alarm.tags[name] = value;
  }));
  return Value();
}

Result<Value> untag_resource(Call& call) {
  const AlarmKey key = TRY(key_of_arn(call));
  RETURN_IF_ERROR(call.parts.watcher.store().change(key, [&](Alarm& alarm) {
    for (const std::string& name : call.parameters.texts("TagKeys")) alarm.tags.erase(name);
  }));
  return Value();
}

Result<Value> list_tags_for_resource(Call& call) {
  const AlarmKey key = TRY(key_of_arn(call));
  const auto alarm = call.parts.watcher.store().find(key);
  if (!alarm) {
    return fail(ErrorCode::resource_not_found,
                fmt::format("There is no alarm named {}.", key.name));
  }
  Value::List tags;
  for (const auto& [name, value] : alarm->tags) {
    tags.push_back(Value().set("Key", name).set("Value", value));
  }
  Value answer;
  answer.set("Tags", std::move(tags));
  return answer;
}

}  // namespace redrive::cloudwatch
