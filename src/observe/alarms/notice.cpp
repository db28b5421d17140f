#include "observe/alarms/notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/calendar.h"
#include "base/text.h"
#include "net/wire/encode.h"
#include "net/wire/shape.h"

namespace redrive::alarms {
namespace {

using Texts = std::vector<std::string_view>;

struct NamedValue {
  std::string_view name;
  std::string_view value;
};
consteval auto shape_of(NamedValue*) {
  using D = NamedValue;
  return wire::shape(wire::required("name", &D::name), wire::required("value", &D::value));
}

struct TriggerDocument {
  std::string_view metric;
  std::string_view space;
  std::string_view statistic_type;
  std::string_view statistic;
  std::optional<std::string_view> unit;
  std::vector<NamedValue> dimensions;
  std::int64_t period = 0;
  std::int64_t evaluation_periods = 0;
  std::int64_t to_alarm = 0;
  std::string_view comparison;
  double threshold = 0;
  std::string_view missing;
  std::string_view low_samples;
};
consteval auto shape_of(TriggerDocument*) {
  using D = TriggerDocument;
  return wire::shape(wire::required("MetricName", &D::metric),
                     wire::required("Namespace", &D::space),
                     wire::required("StatisticType", &D::statistic_type),
                     wire::required("Statistic", &D::statistic),
                     wire::optional("Unit", &D::unit),
                     wire::optional("Dimensions", &D::dimensions).each("Dimension").always(),
                     wire::required("Period", &D::period),
                     wire::required("EvaluationPeriods", &D::evaluation_periods),
                     wire::required("DatapointsToAlarm", &D::to_alarm),
                     wire::required("ComparisonOperator", &D::comparison),
                     wire::required("Threshold", &D::threshold),
                     wire::required("TreatMissingData", &D::missing),
                     wire::required("EvaluateLowSampleCountPercentile", &D::low_samples));
}

struct GroupDocument {
  std::string_view id;
  std::string_view title;
  std::string_view status;
  std::int64_t count = 0;
  bool fresh = false;
};
consteval auto shape_of(GroupDocument*) {
  using D = GroupDocument;
  return wire::shape(wire::required("id", &D::id),
                     wire::required("title", &D::title),
                     wire::required("status", &D::status),
                     wire::required("count", &D::count),
                     wire::required("new", &D::fresh));
}

struct ReasonDocument {
  std::string_view queue;
  std::int64_t messages = 0;
  Texts findings;
  std::vector<GroupDocument> groups;
  Texts apart;
  std::string_view sample;
  Texts commands;
};
consteval auto shape_of(ReasonDocument*) {
  using D = ReasonDocument;
  return wire::shape(wire::required("queue", &D::queue),
                     wire::required("messages", &D::messages),
                     wire::optional("findings", &D::findings).each("finding").always(),
                     wire::optional("groups", &D::groups).each("group").always(),
                     wire::optional("setsApart", &D::apart).each("sentence").always(),
                     wire::optional("sample", &D::sample),
                     wire::optional("commands", &D::commands).each("command").always());
}

struct NoticeDocument {
  std::string_view name;
  std::string_view description;
  std::string_view account;
  std::string_view new_state;
  std::string_view reason;
  std::string_view time;
  std::string_view region;
  std::string_view arn;
  std::string_view old_state;
  Texts ok_actions;
  Texts alarm_actions;
  Texts insufficient_data_actions;
  TriggerDocument trigger;
  std::string_view id;
  std::string_view text;
  std::optional<std::string_view> link;
  std::optional<ReasonDocument> dead_letters;
};
consteval auto shape_of(NoticeDocument*) {
  using D = NoticeDocument;
  return wire::shape(wire::required("AlarmName", &D::name),
                     wire::required("AlarmDescription", &D::description),
                     wire::required("AWSAccountId", &D::account),
                     wire::required("NewStateValue", &D::new_state),
                     wire::required("NewStateReason", &D::reason),
                     wire::required("StateChangeTime", &D::time),
                     wire::required("Region", &D::region),
                     wire::required("AlarmArn", &D::arn),
                     wire::required("OldStateValue", &D::old_state),
                     wire::optional("OKActions", &D::ok_actions).each("Action").always(),
                     wire::optional("AlarmActions", &D::alarm_actions).each("Action").always(),
                     wire::optional("InsufficientDataActions", &D::insufficient_data_actions)
                         .each("Action")
                         .always(),
                     wire::required("Trigger", &D::trigger),
                     wire::required("NoticeId", &D::id),
                     wire::required("Text", &D::text),
                     wire::optional("Link", &D::link),
                     wire::optional("DeadLetters", &D::dead_letters));
}

struct SlackDocument {
  std::string_view text;
};
consteval auto shape_of(SlackDocument*) {
  return wire::shape(wire::required("text", &SlackDocument::text));
}

Texts views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

ReasonDocument document_of(const DeadLetterReason& reason) {
  ReasonDocument document{.queue = reason.queue,
                          .messages = static_cast<std::int64_t>(reason.messages),
                          .findings = views(reason.findings),
                          .groups = {},
                          .apart = views(reason.apart),
                          .sample = reason.sample,
                          .commands = views(reason.commands)};
  for (const FailureLine& line : reason.groups) {
    document.groups.push_back({.id = line.id,
                               .title = line.title,
                               .status = line.status,
                               .count = static_cast<std::int64_t>(line.count),
                               .fresh = line.fresh});
  }
  return document;
}

TriggerDocument trigger_of(const Alarm& alarm) {
  const bool percentile = alarm.statistic.starts_with('p');
  TriggerDocument trigger{.metric = alarm.metric,
                          .space = alarm.space,
                          .statistic_type = percentile ? "ExtendedStatistic" : "Statistic",
                          .statistic = alarm.statistic,
                          .unit = std::nullopt,
                          .dimensions = {},
                          .period = alarm.period.count(),
                          .evaluation_periods = alarm.rule.periods,
                          .to_alarm = alarm.rule.to_alarm,
                          .comparison = name_of(alarm.rule.comparison),
                          .threshold = alarm.rule.threshold,
                          .missing = name_of(alarm.rule.missing),
                          .low_samples = ""};
  if (!alarm.unit.empty()) trigger.unit = alarm.unit;
  for (const auto& [name, value] : alarm.dimensions) trigger.dimensions.push_back({name, value});
  return trigger;
}

std::string text_of(const DeadLetterReason& reason) {
  std::string out;
  const auto line = [&](std::string_view text) { out.append(text).append("\n"); };
  for (const std::string& finding : reason.findings) line(finding);
  if (!reason.groups.empty()) line("");
  for (const FailureLine& group : reason.groups) {
    line(fmt::format("{:>6}  {}  [{}{}]",
                     group.count,
                     group.title,
                     group.fresh ? "new" : group.status,
                     group.id.empty() ? "" : ", " + group.id));
  }
  if (!reason.apart.empty()) line("\nWhat sets them apart:");
  for (const std::string& sentence : reason.apart) line("  " + sentence);
  if (!reason.sample.empty()) line("\nOne of them:\n  " + reason.sample);
  if (!reason.commands.empty()) line("\nWhat you can do:");
  for (const std::string& command : reason.commands) line("  " + command);
  return out;
}

// Links to the group that the notice is about, or to the alarm.
std::string link_of(const Alarm& alarm, const DeadLetterReason* reason,
                    std::string_view console_url) {
  while (console_url.ends_with('/')) console_url.remove_suffix(1);
  if (console_url.empty()) return {};
  if (reason == nullptr) {
    return fmt::format("{}/alarms/{}", console_url, percent_encode(alarm.name, false));
  }
  const std::string queue = percent_encode(reason->queue, false);
  const auto fresh = std::ranges::find(reason->groups, true, &FailureLine::fresh);
  const auto group = fresh == reason->groups.end() ? reason->groups.begin() : fresh;
  if (group == reason->groups.end() || group->id.empty()) {
    return fmt::format("{}/queues/{}/messages", console_url, queue);
  }
  return fmt::format("{}/queues/{}/groups/{}", console_url, queue, group->id);
}

Notice make(const Alarm& alarm, AlarmState before, const DeadLetterReason* reason,
            std::string_view console_url) {
  const Condition& condition = alarm.condition;
  Notice notice;
  notice.state = name_of(condition.state);
  notice.key = alarm.arn();
  notice.id = fmt::format("{}/{}/{}", notice.key, notice.state, condition.transitioned.ms());
  notice.title = fmt::format("{}: {}", notice.state, alarm.name);
  notice.text = reason == nullptr ? condition.reason + "\n" : text_of(*reason);
  notice.link = link_of(alarm, reason, console_url);
  const std::string time = format_utc(condition.transitioned);
  const std::string arn = alarm.arn();
  NoticeDocument document{.name = alarm.name,
                          .description = alarm.description,
                          .account = alarm.account,
                          .new_state = notice.state,
                          .reason = condition.reason,
                          .time = time,
                          .region = alarm.region,
                          .arn = arn,
                          .old_state = name_of(before),
                          .ok_actions = views(alarm.ok_actions),
                          .alarm_actions = views(alarm.alarm_actions),
                          .insufficient_data_actions = views(alarm.insufficient_data_actions),
                          .trigger = trigger_of(alarm),
                          .id = notice.id,
                          .text = notice.text,
                          .link = std::nullopt,
                          .dead_letters = std::nullopt};
  if (!notice.link.empty()) document.link = notice.link;
  if (reason != nullptr) document.dead_letters = document_of(*reason);
  wire::encode_json(notice.json, document);
  return notice;
}

// Escapes untrusted text: Slack interprets <...> as links and <!channel> as a mention of everybody.
// The text must not end its code block either.
std::string slack_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c == '`' ? '\'' : c;
    }
  }
  return out;
}

}  // namespace

Notice make_notice(const Alarm& alarm, AlarmState before, std::string_view console_url) {
  return make(alarm, before, nullptr, console_url);
}

Notice make_notice(const Alarm& alarm, AlarmState before, const DeadLetterReason& reason,
                   std::string_view console_url) {
  return make(alarm, before, &reason, console_url);
}

std::string slack_json(const Notice& notice) {
  std::string text =
      fmt::format("*{}*\n```{}```", slack_text(notice.title), slack_text(notice.text));
  if (!notice.link.empty()) {
    text += fmt::format("\n<{}|Open in the console>", slack_text(notice.link));
  }
  std::string out;
  wire::encode_json(out, SlackDocument{text});
  return out;
}

}  // namespace redrive::alarms
