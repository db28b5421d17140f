// Alarms: the built-in ones of dead-letter queues, and those created by requests.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/calendar.h"
#include "core/queue/hidden_queues.h"
#include "front/catalogue_access.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr std::pair<std::string_view, alarms::Comparison> kComparisonSigns[] = {
    {">", alarms::Comparison::above},
    {">=", alarms::Comparison::at_least},
    {"<", alarms::Comparison::below},
    {"<=", alarms::Comparison::at_most},
};

Result<alarms::Watcher*> watcher_of(const Call& call) {
  if (call.parts.watcher != nullptr) return call.parts.watcher;
  return fail(ErrorCode::unsupported_operation, "This server has no alarms.");
}

alarms::AlarmKey own_key(const Call& call, std::string_view name) {
  return {call.caller.account, call.caller.region, std::string(name)};
}

std::string_view told_time(Call& call, Timestamp time) {
  return time == Timestamp() ? std::string_view() : call.keep(format_utc(time));
}

std::string_view finding(Call& call, const alarms::Watcher::DeadLetterAlarm& alarm) {
  if (!alarm.memory.alarming()) return {};
  return call.keep(fmt::format("{} dead letter{}{}{}",
                               alarm.reading.messages,
                               alarm.reading.messages == 1 ? "" : "s",
                               alarm.memory.flood ? ", arriving fast" : "",
                               alarm.memory.expiring ? ", the oldest expires soon" : ""));
}

Result<void> may_use(const Call& call, const alarms::Alarm& alarm) {
  return front::authorize_alarm(call.parts.engine,
                                call.caller,
                                call.operation(),
                                {alarm.account, alarm.region, alarm.name, alarm.dimensions});
}

// A metric alarm that the caller may use; an error for others.
Result<void> may_use_named(const Call& call, alarms::Watcher& watcher,
                           const alarms::AlarmKey& key) {
  if (const auto alarm = watcher.store().find(key)) return may_use(call, *alarm);
  for (const auto& own : watcher.dead_letter_alarms()) {
    if (own.alarm.name == key.name && own.reading.identity.account == key.account &&
        own.reading.identity.region == key.region)
      return may_use(call, own.alarm);
  }
  for (const auto& own : watcher.damage_alarms()) {
    if (own.alarm.name == key.name && own.queue.account == key.account &&
        own.queue.region == key.region)
      return may_use(call, own.alarm);
  }
  const metrics::Dimensions none;
  return front::authorize_alarm(
      call.parts.engine, call.caller, call.operation(), {key.account, key.region, key.name, none});
}

// Notices are sent and functions invoked on behalf of the creator of the alarm.
Result<void> check_notified(const Call& call, const alarms::Alarm& alarm) {
  for (const std::string& target : alarm.alarm_actions) {
    RETURN_IF_ERROR(
        front::authorize_target(call.parts.engine, call.caller, target, call.parts.bucket_owner));
  }
  return {};
}

// Whether the caller may see a target: its own queue or function, or a target of its own alarm.
bool sees_target(const Call& call, const std::vector<alarms::Alarm>& visible,
                 const std::string& target) {
  const auto names = [&](const std::vector<std::string>& actions) {
    return std::ranges::any_of(actions, [&](const std::string& action) {
      return action == target || alarms::shown_target(action) == target;
    });
  };
  return call.sees_all() || std::ranges::any_of(visible, [&](const alarms::Alarm& alarm) {
           return names(alarm.alarm_actions) || names(alarm.ok_actions) ||
                  names(alarm.insufficient_data_actions);
         });
}

std::vector<alarms::Alarm> visible_alarms(const Call& call, alarms::Watcher& watcher) {
  std::vector<alarms::Alarm> all = watcher.store().all();
  std::erase_if(all, [&](const alarms::Alarm& alarm) {
    return alarm.account != call.caller.account || alarm.region != call.caller.region ||
           !may_use(call, alarm);
  });
  return all;
}

documents::AlarmTarget document_of(Call& call, const alarms::Delivery& delivery) {
  const Duration wall_ahead = call.parts.engine.wall() - call.parts.engine.now();
  documents::AlarmTarget out{.target = call.keep(delivery.target),
                             .state = alarms::name_of(delivery.state),
                             .notice = call.keep(delivery.notice),
                             .waiting = delivery.is_open(),
                             .error = call.keep(delivery.error),
                             .status = call.keep(delivery.status),
                             .at = told_time(call, delivery.at),
                             .attempts = static_cast<std::int32_t>(delivery.attempts),
                             .next_try = {}};
  if (delivery.state == alarms::DeliveryState::failing) {
    out.next_try = call.keep(format_utc(delivery.next + wall_ahead));
  }
  return out;
}

// The targets of an alarm, each with its latest delivery. `unreachable` ones can get none.
std::vector<documents::AlarmTarget> targets_of(Call& call, const alarms::Watcher& watcher,
                                               const alarms::AlarmKey& key,
                                               const std::vector<std::string>& named) {
  std::vector<documents::AlarmTarget> out;
  const std::vector<alarms::Delivery> latest = watcher.notifier().latest(key);
  for (const std::string& target : std::set(named.begin(), named.end())) {
    const auto delivery =
        std::ranges::find(latest, alarms::target_id(target), &alarms::Delivery::target_id);
    if (const auto why = watcher.why_unreachable(target)) {
      out.push_back({.target = call.keep(alarms::shown_target(target)),
                     .state = "unreachable",
                     .notice = {},
                     .error = call.keep(*why),
                     .status = {},
                     .at = {},
                     .attempts = std::nullopt,
                     .next_try = {}});
    } else if (delivery != latest.end()) {
      out.push_back(document_of(call, *delivery));
    } else {
      out.push_back({.target = call.keep(alarms::shown_target(target)),
                     .state = "unused",
                     .notice = {},
                     .error = {},
                     .status = {},
                     .at = {},
                     .attempts = std::nullopt,
                     .next_try = {}});
    }
  }
  return out;
}

std::vector<std::string> actions_of(const alarms::Alarm& alarm) {
  std::vector<std::string> actions = alarm.alarm_actions;
  for (const auto* more : {&alarm.ok_actions, &alarm.insufficient_data_actions}) {
    actions.insert(actions.end(), more->begin(), more->end());
  }
  return actions;
}

// The name of the queue whose metric the alarm is about; empty when it is about something else.
std::string watched_queue(const alarms::Alarm& alarm) {
  for (const auto& [name, value] : alarm.dimensions) {
    if (name == "QueueName") return value;
  }
  return {};
}

// The server's own targets, for a built-in alarm.
std::vector<documents::AlarmTarget> own_targets_of(Call& call, const alarms::Watcher& watcher,
                                                   const alarms::Alarm& alarm) {
  if (!call.sees_all()) return {};
  return targets_of(
      call, watcher, {alarm.account, alarm.region, alarm.name}, watcher.own_target_names());
}

Result<alarms::Alarm> alarm_of(const Call& call, const documents::NewAlarm& input) {
  alarms::Alarm alarm{.account = call.caller.account,
                      .region = call.caller.region,
                      .name = std::string(input.name),
                      .dimensions = {{"QueueName", std::string(input.queue)}},
                      .metric = std::string(input.metric),
                      .statistic = std::string(input.statistic.value_or("Maximum")),
                      .period = std::chrono::seconds(input.period_seconds.value_or(60))};
  for (const std::string_view space : {"AWS/SQS", "Redrive"}) {
    if (metrics::find_cloud_metric(space, input.metric) != nullptr) alarm.space = space;
  }
  if (alarm.space.empty()) {
    return fail(
        ErrorCode::invalid_parameter_value,
        "`metric` must be the name of a CloudWatch metric for queues, see docs/metrics.md.");
  }
  const auto sign = std::ranges::find(kComparisonSigns,
                                      input.comparison.value_or(">"),
                                      [](const auto& pair) { return pair.first; });
  const std::int64_t period = alarm.period.count();
  const bool fits =
      period == 10 || period == 20 || period == 30 || (period > 0 && period % 60 == 0);
  const std::int32_t periods = input.periods.value_or(1);
  if (sign == std::end(kComparisonSigns) || !fits || periods < 1 || period * periods > 86'400 ||
      !metrics::Statistic::parse(alarm.statistic) || input.name.size() > 255) {
    return fail(
        ErrorCode::invalid_parameter_value,
        "`comparison` must be >, >=, < or <=; `periodSeconds` 10, 20, 30 or a multiple of 60; "
        "`periods` at least 1, and at most a day in total; `statistic` one of CloudWatch's.");
  }
  alarm.rule = {.periods = static_cast<std::uint32_t>(periods),
                .to_alarm = static_cast<std::uint32_t>(periods),
                .threshold = input.threshold,
                .comparison = sign->second,
                .missing = alarms::MissingData::not_breaching};
  alarm.missing_given = true;
  for (const std::string_view target : input.notify) {
    const auto kind = alarms::Target::parse(std::string(target), false).kind;
    const bool local = kind == alarms::Target::Kind::mail || kind == alarms::Target::Kind::command;
    if (local || input.notify.size() > 5 ||
        (kind == alarms::Target::Kind::unknown && !target.starts_with("arn:"))) {
      return fail(ErrorCode::invalid_parameter_value,
                  "`notify` can have at most five ARNs of queues or functions, or webhooks; "
                  "commands and mail are allowed only in redrive.toml.");
    }
    alarm.alarm_actions.emplace_back(target);
    alarm.ok_actions.emplace_back(target);
  }
  return alarm;
}

void add_damage_alarm(Call& call, alarms::Watcher& watcher,
                      const alarms::Watcher::DamageAlarm& damage, documents::AlarmList& out) {
  const auto& [queue, messages, alarm] = damage;
  if (queue.account != call.caller.account || queue.region != call.caller.region) return;
  auto function = queue::function_of_async(queue.name);
  const bool seen =
      function ? call.sees_function(queue.account, queue.region, *function) : call.sees(queue);
  if (!seen) return;
  const std::string found = fmt::format(
      "{} damaged {}{}", messages, function ? "event" : "message", messages == 1 ? "" : "s");
  documents::AlarmLine line{.name = call.keep(alarm.name),
                            .kind = "damage",
                            .state = alarms::name_of(alarm.condition.state),
                            .reason = messages > 0 ? call.keep(found) : std::string_view(),
                            .since = told_time(call, alarm.condition.transitioned),
                            .on = true,
                            .targets = own_targets_of(call, watcher, alarm)};
  if (function) {
    line.function = call.keep(*std::move(function));
  } else {
    line.queue = call.keep(queue.name);
  }
  out.alarms.push_back(std::move(line));
}

}  // namespace

Result<documents::AlarmList> list_alarms(Call& call) {
  alarms::Watcher& watcher = *TRY(watcher_of(call));
  documents::AlarmList out;
  for (const auto& alarm : watcher.dead_letter_alarms()) {
    const queue::QueueIdentity& queue = alarm.reading.identity;
    if (queue.account != call.caller.account || queue.region != call.caller.region) continue;
    if (!call.sees(queue)) continue;
    out.alarms.push_back({.name = call.keep(alarm.alarm.name),
                          .kind = "dead-letters",
                          .state = alarms::name_of(alarm.alarm.condition.state),
                          .queue = call.keep(queue.name),
                          .reason = finding(call, alarm),
                          .since = told_time(call, alarm.alarm.condition.transitioned),
                          .on = !alarm.memory.off,
                          .targets = own_targets_of(call, watcher, alarm.alarm)});
  }
  for (const auto& alarm : watcher.damage_alarms()) add_damage_alarm(call, watcher, alarm, out);
  for (const alarms::Alarm& alarm : visible_alarms(call, watcher)) {
    out.alarms.push_back(
        {.name = call.keep(alarm.name),
         .kind = "metric",
         .state = alarms::name_of(alarm.condition.state),
         .queue = call.keep(watched_queue(alarm)),
         .reason = call.keep(alarm.condition.reason),
         .since = told_time(call, alarm.condition.transitioned),
         .on = alarm.actions_enabled,
         .targets = targets_of(
             call, watcher, {alarm.account, alarm.region, alarm.name}, actions_of(alarm))});
  }
  return out;
}

Result<documents::AlarmList> add_alarm(Call& call, const documents::NewAlarm& input) {
  alarms::Watcher& watcher = *TRY(watcher_of(call));
  alarms::Alarm alarm = TRY(alarm_of(call, input));
  RETURN_IF_ERROR(may_use(call, alarm));
  RETURN_IF_ERROR(check_notified(call, alarm));
  RETURN_IF_ERROR(watcher.check_reachable(alarm.alarm_actions));
  // An existing alarm of that name is replaced.
  if (const auto before = watcher.store().find(own_key(call, input.name))) {
    RETURN_IF_ERROR(may_use(call, *before));
  }
  RETURN_IF_ERROR(watcher.store().put(std::move(alarm)));
  call.parts.observe();
  watcher.look();
  return list_alarms(call);
}

Result<documents::AlarmList> remove_alarm(Call& call) {
  alarms::Watcher& watcher = *TRY(watcher_of(call));
  const alarms::AlarmKey key = own_key(call, call.parameter("alarm"));
  RETURN_IF_ERROR(may_use_named(call, watcher, key));
  if (!watcher.store().remove(key)) {
    return fail(ErrorCode::resource_not_found, "There is no metric alarm with this name.");
  }
  return list_alarms(call);
}

Result<documents::AlarmEvents> show_alarm_history(Call& call) {
  alarms::Watcher& watcher = *TRY(watcher_of(call));
  documents::AlarmEvents out;
  const alarms::AlarmKey key = own_key(call, call.parameter("alarm"));
  RETURN_IF_ERROR(may_use_named(call, watcher, key));
  const Duration wall_ahead = call.parts.engine.wall() - call.parts.engine.now();
  for (const auto& item : watcher.store().history(key)) {
    documents::AlarmEvent event{.time = call.keep(format_utc(item.wall)),
                                .kind = alarms::name_of(item.kind),
                                .summary = call.keep(item.summary),
                                .delivery = std::nullopt};
    if (item.delivery) {
      event.summary = call.keep(alarms::summary_of(*item.delivery, wall_ahead));
      event.delivery = document_of(call, *item.delivery);
    }
    out.events.push_back(event);
  }
  return out;
}

Result<documents::AlarmList> switch_alarm(Call& call, const documents::AlarmSwitch& input) {
  alarms::Watcher& watcher = *TRY(watcher_of(call));
  RETURN_IF_ERROR(watcher.switch_dead_letter_alarm(call.queue("queue"), input.on));
  return list_alarms(call);
}

Result<documents::AlarmTargets> list_alarm_targets(Call& call) {
  alarms::Watcher& watcher = *TRY(watcher_of(call));
  documents::AlarmTargets out;
  const auto visible = visible_alarms(call, watcher);
  for (const alarms::Delivery& delivery : watcher.notifier().latest_by_target()) {
    if (sees_target(call, visible, delivery.target)) {
      out.targets.push_back(document_of(call, delivery));
    }
  }
  return out;
}

Result<documents::AlarmTargets> test_alarm_targets(Call& call) {
  TRY(watcher_of(call))->test();
  return list_alarm_targets(call);
}

}  // namespace redrive::manage
