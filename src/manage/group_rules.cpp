// Failure groups merged and split manually, and the timeline of a group.

#include <algorithm>

#include "base/calendar.h"
#include "base/text.h"
#include "dead_letters/triage/fingerprint.h"
#include "manage/group_view.h"
#include "manage/in_turns.h"
#include "manage/operations.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kMarksMax = 100;
constexpr std::size_t kMarkedJobsPerTurn = 64;

std::string_view id_text(Call& call, const queue::State::GroupId& id) {
  return call.keep(triage::GroupId{id}.text());
}

documents::GroupRule describe_rule(Call& call, const queue::State& state,
                                   const queue::GroupRule& rule) {
  return {.number = rule.number,
          .kind = rule.merges() ? "merge" : "split",
          .from = id_text(call, rule.from),
          .into = id_text(call, rule.into.id),
          .title = call.keep(rule.into.title),
          .filter = call.keep(rule.filter),
          .made_by = rule.made_by == queue::NameIndex::none ? std::string_view()
                                                            : call.keep(state.name(rule.made_by)),
          .made_at = call.keep(format_utc(rule.made_wall)),
          .applied = rule.applied};
}

// The id of a group, given in full or as a prefix.
Result<queue::State::GroupId> group_id(Call& call, const queue::QueueIdentity& identity,
                                       std::string_view text) {
  return call.parts.engine.turn([&](engine::Turn& turn) -> Result<queue::State::GroupId> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    return TRY(find_group(turn.state(), queue, text))->identity.id;
  });
}

Result<documents::GroupRules> rules_of(Call& call, const queue::QueueIdentity& identity) {
  return call.parts.engine.turn([&](engine::Turn& turn) -> Result<documents::GroupRules> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    documents::GroupRules out;
    for (const queue::GroupRule& rule : turn.state().group_rules_of(queue.key)) {
      out.rules.push_back(describe_rule(call, turn.state(), rule));
    }
    return out;
  });
}

void add_job_marks(Call& call, const queue::QueueIdentity& identity, queue::FailureGroupKey group,
                   std::vector<documents::TimelineMark>& marks) {
  const std::string arn = identity.arn();
  visit_in_turns(call.parts.engine,
                 &queue::State::tasks,
                 kMarkedJobsPerTurn,
                 [&](engine::Turn&, queue::TaskKey, const queue::MoveTask& task) {
                   const bool takes_it =
                       task.plan.group == queue::FailureGroupKey::none || task.plan.group == group;
                   if (task.source_arn != arn || !takes_it) return;
                   const std::string_view id = call.keep(task.id.text());
                   const std::string_view text =
                       call.keep(task.plan.name.empty() ? task.plan.reason : task.plan.name);
                   marks.push_back({.at = call.keep(format_utc(task.started_wall)),
                                    .kind = "job-started",
                                    .id = id,
                                    .text = text});
                   if (task.ended_wall == Timestamp()) return;
                   marks.push_back({.at = call.keep(format_utc(task.ended_wall)),
                                    .kind = "job-ended",
                                    .id = id,
                                    .text = name_of(task.status)});
                 });
}

void add_alarm_marks(Call& call, const queue::QueueIdentity& identity,
                     std::vector<documents::TimelineMark>& marks) {
  if (call.parts.watcher == nullptr) return;
  // The name that alarms::Watcher gives the alarm of a dead-letter queue.
  const alarms::AlarmKey key{identity.account, identity.region, "dead letters in " + identity.name};
  for (const alarms::HistoryItem& item : call.parts.watcher->store().history(key)) {
    if (item.kind != alarms::HistoryItem::Kind::state) continue;
    marks.push_back({.at = call.keep(format_utc(item.wall)),
                     .kind = "alarm",
                     .id = call.keep(key.name),
                     .text = call.keep(item.summary)});
  }
}

}  // namespace

std::vector<documents::TimelineMark> timeline_marks(Call& call, const queue::QueueIdentity& queue,
                                                    queue::FailureGroupKey group) {
  std::vector<documents::TimelineMark> marks;
  add_job_marks(call, queue, group, marks);
  add_alarm_marks(call, queue, marks);
  // Times in UTC compare as texts.
  std::ranges::stable_sort(marks, {}, &documents::TimelineMark::at);
  if (marks.size() > kMarksMax) {
    marks.erase(marks.begin(), marks.end() - static_cast<std::ptrdiff_t>(kMarksMax));
  }
  return marks;
}

Result<documents::GroupRules> list_group_rules(Call& call) {
  return rules_of(call, call.queue("queue"));
}

Result<documents::GroupRules> merge_group(Call& call, const documents::GroupMerge& input) {
  const queue::QueueIdentity queue = call.queue("queue");
  group_what_came(call.parts.dead_letters);
  const auto from = TRY(group_id(call, queue, call.parameter("group")));
  const auto into = TRY(group_id(call, queue, input.into));
  const std::string actor = call.actor();
  TRY(call.parts.dead_letters.groups.merge(queue, from, into, {.name = actor}));
  group_what_came(call.parts.dead_letters);
  return rules_of(call, queue);
}

Result<documents::GroupRules> split_group(Call& call, const documents::GroupSplit& input) {
  const queue::QueueIdentity queue = call.queue("queue");
  group_what_came(call.parts.dead_letters);
  const auto from = TRY(group_id(call, queue, call.parameter("group")));
  const std::string actor = call.actor();
  TRY(call.parts.dead_letters.groups.split(
      queue, from, input.filter, input.title, {.name = actor}));
  group_what_came(call.parts.dead_letters);
  return rules_of(call, queue);
}

Result<documents::GroupRules> remove_group_rule(Call& call) {
  const queue::QueueIdentity queue = call.queue("queue");
  const auto number = parse_int<std::uint32_t>(call.parameter("rule"));
  if (!number)
    return fail(ErrorCode::invalid_parameter_value, "A rule is identified by its number.");
  RETURN_IF_ERROR(call.parts.dead_letters.groups.remove_rule(queue, *number));
  return rules_of(call, queue);
}

}  // namespace redrive::manage
