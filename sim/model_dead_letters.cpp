// Failures, groups, redrive jobs, the bin and edits, in the model.

#include <algorithm>
#include <cstdio>
#include <utility>

#include "sim/model.h"
#include "sim/model_parts.h"
#include "sim/violation.h"

namespace redrive::sim {

using queue::FailureGroupKey;
using queue::MessageKey;
using queue::NameIndex;
using queue::Phase;
using queue::QueueKey;
using queue::TaskKey;
using queue::TaskStatus;

namespace {

constexpr std::size_t kTasksKept = 50;
constexpr std::size_t kGroupNames = 8;
constexpr std::string_view kJobs = "jobs do what they were asked to";
constexpr std::string_view kGroupsOfQueue = "groups have dead letters of their queue";

bool is_bin_of(const ModelQueue& bin, const ModelQueue& queue) {
  return bin.identity.name == queue.identity.name + "!bin";
}

// Discarded messages go to the same damaged queue.
bool takes_damage_of(const ModelQueue& damaged, const ModelQueue& queue) {
  const std::string& name = queue.identity.name;
  return damaged.identity.name == name.substr(0, name.find('!')) + "!damaged";
}

bool keeps_settled_of(const ModelQueue& settled, const ModelQueue& queue) {
  return settled.identity.name == queue.identity.name + "!settled";
}

void add_name(std::vector<NameIndex>& names, NameIndex name) {
  const bool known = std::ranges::find(names, name) != names.end();
  if (name != NameIndex::none && !known && names.size() < kGroupNames) names.push_back(name);
}

bool over(TaskStatus status) {
  return status == TaskStatus::completed || status == TaskStatus::cancelled ||
         status == TaskStatus::failed;
}

}  // namespace

void Model::settle(ModelMessage& message, std::uint64_t queue::TaskCounts::*outcome) {
  const auto task = tasks_.find(std::exchange(message.history.job, TaskKey::none));
  if (task != tasks_.end()) ++(task->second.counts.*outcome);
}

void Model::on(const queue::ErrorLearned& fact) {
  if (const auto known = errors_.find(fact.error); known != errors_.end()) {
    require(known->second == fact.text, kNumbers, "error {} changed", number(fact.error));
    return;  // A checkpoint repeats it.
  }
  require(number(fact.error) == last_error_ + 1, kNumbers, "error {}", number(fact.error));
  last_error_ = number(fact.error);
  errors_[fact.error] = fact.text;
}

void Model::on(const queue::FailureReported& fact) {
  ModelMessage& message = message_in(fact.queue, fact.key, "failed");
  queue::History& history = message.history;
  require(errors_.contains(fact.error) && !history.attempts.empty(),
          kSpeaksOfWhatIs,
          "failed: message {}",
          number(fact.key));
  end_attempt(history, queue::AttemptEnd::failed, now_);
  history.attempts.back().end = queue::AttemptEnd::failed;
  history.attempts.back().error = fact.error;
  history.attempts.back().company = fact.company;
  if (fact.retries) history.retries = *fact.retries;
  if (!fact.visible_at) return;
  require(message.phase == Phase::in_flight,
          "only who holds a message gives it up",
          "message {}",
          number(fact.key));
  message.visibility_touched = true;
  message.visible_at = *fact.visible_at;
  message.phase = *fact.visible_at > now_ ? Phase::in_flight : Phase::visible;
}

void Model::carry_over(ModelMessage& message, QueueKey to, std::uint64_t sequence) {
  queue::History& history = message.history;
  end_attempt(history, queue::AttemptEnd::visibility_expired, message.visible_at);
  if (history.origin == NameIndex::none) history.origin = queues_.at(message.queue).arn;
  history.entered_generation = message.generation();
  history.sequence = message.order = sequence;
  history.group = FailureGroupKey::none;
  history.retries = {};
  message.sent_at = now_;
  message.queue = to;
  message.phase = Phase::visible;
  message.visibility_touched = false;
}

bool Model::is_policy(queue::NameIndex actor) const {
  return actor != NameIndex::none && names_[number(actor)] == "policy";
}

// The actor name that the driver uses to move messages it has received.
bool Model::is_holder(queue::NameIndex actor) const {
  return actor != NameIndex::none && names_[number(actor)] == "holder";
}

// Not more often than allowed, and back to its source. The timing is checked in tests whose wall
// clock does not jump.
void Model::check_policy_redrive(const queue::MessageRedriven& fact) {
  constexpr std::string_view kPolicies = "a queue redrives by itself what its policy says";
  const ModelMessage& message = message_in(fact.from, fact.key, "redriven by policy");
  const auto& policy = queues_.at(fact.from).settings.dead_letters;
  require(policy && policy->redrive_after > std::chrono::seconds(0), kPolicies, "without a policy");
  require(!policy->is_spent(message.history.redrives),
          kPolicies,
          "message {} has had its {} redrives",
          number(fact.key),
          message.history.redrives);
  require(message.phase != Phase::in_flight, kPolicies, "message {} is held", number(fact.key));
  require(names_[number(message.history.dead_letter_source)] ==
              queue_of(fact.to, "redriven to").identity.arn(),
          kPolicies,
          "message {} goes elsewhere",
          number(fact.key));
}

void Model::on(const queue::MessageDiscarded& fact) {
  if (is_policy(fact.actor)) {
    const auto& policy = queue_of(fact.from, "discarded from").settings.dead_letters;
    require(policy && policy->then == queue::DeadLetterPolicy::Then::discard &&
                policy->is_spent(message_in(fact.from, fact.key, "discarded").history.redrives),
            "a policy discards what has had its redrives",
            "message {}",
            number(fact.key));
  }
  take_sequence(fact.sequence, "discarded");
  const ModelQueue& from = queue_of(fact.from, "discarded from");
  require(is_bin_of(queue_of(fact.to, "discarded to"), from), kSpeaksOfWhatIs, "another bin");
  ModelMessage& message = message_in(fact.from, fact.key, "discarded");
  require(message.phase != Phase::in_flight, kSpeaksOfWhatIs, "discarded from a consumer");
  settle(message, &queue::TaskCounts::gone);
  carry_over(message, fact.to, fact.sequence);
  add_event(message.history,
            {.wall = wall_,
             .from = from.arn,
             .actor = fact.actor,
             .reason = fact.reason,
             .kind = queue::LineageEvent::Kind::discarded});
}

void Model::on(const queue::MessageRestored& fact) {
  take_sequence(fact.sequence, "restored");
  const ModelQueue& from = queue_of(fact.from, "restored from");
  ModelMessage& message = message_in(fact.from, fact.key, "restored");
  const ModelQueue& to = queue_of(fact.to, "restored to");
  const bool back = from.identity.is_damaged() && !message.history.events.empty() &&
                    message.history.events.back().from == to.arn;
  require(back || is_bin_of(from, to), kSpeaksOfWhatIs, "restored to another queue");
  carry_over(message, fact.to, fact.sequence);
  add_event(message.history,
            {.wall = wall_,
             .from = from.arn,
             .actor = fact.actor,
             .kind = queue::LineageEvent::Kind::restored});
}

// Whether the bytes are damaged is checked by World, which has the disk.
void Model::on(const queue::MessageDamaged& fact) {
  take_sequence(fact.sequence, "damaged");
  const ModelQueue& from = queue_of(fact.from, "damaged in");
  require(takes_damage_of(queue_of(fact.to, "damaged to"), from),
          kSpeaksOfWhatIs,
          "damaged: another place");
  ModelMessage& message = message_in(fact.from, fact.key, "damaged");
  if (message.phase == Phase::in_flight && message.visible_at > now_) {
    end_attempt(message.history, queue::AttemptEnd::released, now_);
  }
  settle(message, &queue::TaskCounts::gone);
  carry_over(message, fact.to, fact.sequence);
  add_event(message.history,
            {.wall = wall_,
             .from = from.arn,
             .reason = fact.error,
             .kind = queue::LineageEvent::Kind::damaged});
}

// Only messages that were dead-lettered, redriven and then deleted by a consumer.
void Model::on(const queue::MessageSettled& fact) {
  using Kind = queue::LineageEvent::Kind;
  take_sequence(fact.sequence, "settled");
  const ModelQueue& from = queue_of(fact.from, "settled in");
  require(keeps_settled_of(queue_of(fact.to, "settled to"), from),
          kSpeaksOfWhatIs,
          "settled elsewhere");
  ModelMessage& message = message_in(fact.from, fact.key, "settled");
  queue::History& history = message.history;
  require(history.redrives > 0 && history.dead_letter_source == NameIndex::none &&
              std::ranges::find(history.events, Kind::dead_lettered, &queue::LineageEvent::kind) !=
                  history.events.end(),
          "only what was redriven is settled",
          "message {}",
          number(fact.key));
  count_processed(queues_.at(fact.from), message);
  end_attempt(history, queue::AttemptEnd::processed, now_);
  settle(message, &queue::TaskCounts::succeeded);
  TaskKey job = TaskKey::none;
  for (const queue::LineageEvent& event : history.events) {
    if (event.kind == Kind::redriven) job = event.job;
  }
  carry_over(message, fact.to, fact.sequence);
  add_event(history, {.wall = wall_, .from = from.arn, .job = job, .kind = Kind::processed});
}

void Model::on(const queue::MessageEdited& fact) {
  const auto found = messages_.find(fact.key);
  require(found != messages_.end() &&
              (found->second.phase != Phase::in_flight || is_holder(fact.actor)),
          kSpeaksOfWhatIs,
          "edited: message {}",
          number(fact.key));
  require(original_kept_ || is_holder(fact.actor),
          "an edit keeps the original",
          "message {}",
          number(fact.key));
  original_kept_ = false;
  edited_ = fact.key;
  ++found->second.edition;
  add_event(found->second.history,
            {.wall = wall_,
             .from = queues_.at(found->second.queue).arn,
             .actor = fact.actor,
             .reason = fact.reason,
             .kind = queue::LineageEvent::Kind::edited});
}

void Model::on(const queue::MessageTried& fact) {
  ModelMessage& message = message_in(fact.queue, fact.key, "tried");
  add_event(message.history,
            {.wall = wall_,
             .from = queues_.at(fact.queue).arn,
             .actor = fact.actor,
             .reason = fact.reason,
             .kind = queue::LineageEvent::Kind::tried});
}

// Checkpoints repeat known deploys.
void Model::on(const queue::CodeDeployed& fact) {
  auto& known = deploys_[std::string(fact.function)];
  for (const queue::Deploy& deploy : fact.deploys) {
    if (std::ranges::find(known, deploy) == known.end()) known.push_back(deploy);
  }
  std::ranges::sort(
      known, {}, [](const queue::Deploy& deploy) { return std::pair(deploy.wall, deploy.code); });
  while (known.size() > queue::kDeploysKept) known.erase(known.begin());
}

void Model::on(const queue::GroupLearned& fact) {
  require(number(fact.group) == last_group_ + 1, kNumbers, "group {}", number(fact.group));
  last_group_ = number(fact.group);
  queue_of(fact.queue, "group learned");
  for (const auto& [key, group] : groups_) {
    require(group.queue != fact.queue || group.identity.id != fact.identity.id,
            kGroupsOfQueue,
            "group {} is group {} once more",
            number(fact.group),
            number(key));
  }
  ModelGroup& group = groups_[fact.group];
  group.queue = fact.queue;
  group.identity = fact.identity;
}

void ModelGroup::arrive(Timestamp wall) {
  first_wall = total++ == 0 ? wall : std::min(first_wall, wall);
  last_wall = std::max(last_wall, wall);
  ++days[wall.ms() / 86'400'000];
  ++minutes[wall.ms() / 60'000];
}

// By a rule, which must exist.
void Model::change_group(queue::History& history, FailureGroupKey to) {
  const ModelGroup& from = groups_.at(history.group);
  ModelGroup& into = groups_.at(to);
  bool ruled = false;
  auto merged_id = from.identity.id;
  for (const auto& [key, rule] : group_rules_) {
    if (key.first != from.queue) continue;
    ruled = ruled || rule.into.id == into.identity.id;
    if (rule.from == merged_id && rule.filter.empty()) merged_id = rule.into.id;
  }
  const bool merged = merged_id == into.identity.id;
  require(ruled, kGroupsOfQueue, "group {} was changed without a rule", number(to));
  history.group = to;
  count_failed(into.codes, history);
  if (merged) return;
  std::optional<Timestamp> died;
  for (const queue::LineageEvent& event : history.events) {
    if (event.kind == queue::LineageEvent::Kind::dead_lettered) died = event.wall;
  }
  if (died) into.arrive(*died);
  add_name(into.sources, history.dead_letter_source);
  if (!history.attempts.empty()) add_name(into.consumers, history.attempts.back().by);
}

void Model::on(const queue::GroupRuled& fact) {
  if (group_rules_.contains({fact.queue, fact.rule.number})) return;  // A checkpoint repeats it.
  queue_of(fact.queue, "group rule");
  group_rules_[{fact.queue, fact.rule.number}] = fact.rule;
  if (!fact.rule.filter.empty()) return;
  ModelGroup* from = nullptr;
  ModelGroup* into = nullptr;
  for (auto& [key, group] : groups_) {
    if (group.queue != fact.queue) continue;
    if (group.identity.id == fact.rule.from) from = &group;
    if (group.identity.id == fact.rule.into.id) into = &group;
  }
  if (from == nullptr || into == nullptr || from->total == 0) return;
  into->first_wall =
      into->total == 0 ? from->first_wall : std::min(into->first_wall, from->first_wall);
  into->last_wall = std::max(into->last_wall, from->last_wall);
  into->total += std::exchange(from->total, 0);
  into->failed_again += std::exchange(from->failed_again, 0);
  for (const NameIndex name : from->sources) add_name(into->sources, name);
  for (const NameIndex name : from->consumers) add_name(into->consumers, name);
  for (const auto& [day, count] : std::exchange(from->days, {})) into->days[day] += count;
  for (const auto& [minute, count] : std::exchange(from->minutes, {}))
    into->minutes[minute] += count;
}

void Model::on(const queue::GroupRuleApplied& fact) {
  const auto found = group_rules_.find({fact.queue, fact.number});
  require(found != group_rules_.end(), kSpeaksOfWhatIs, "group rule {}", fact.number);
  found->second.applied = true;
}

void Model::on(const queue::GroupRuleRemoved& fact) {
  require(group_rules_.erase({fact.queue, fact.number}) == 1,
          kSpeaksOfWhatIs,
          "group rule {}",
          fact.number);
}

void Model::on(const queue::MessageGrouped& fact) {
  queue::History& history = message_in(fact.queue, fact.key, "grouped").history;
  const auto found = groups_.find(fact.group);
  if (history.group != FailureGroupKey::none && found != groups_.end() &&
      history.group != fact.group && groups_.at(history.group).queue == fact.queue) {
    return change_group(history, fact.group);
  }
  require(found != groups_.end() && found->second.queue == fact.queue &&
              history.group == FailureGroupKey::none &&
              history.dead_letter_source != NameIndex::none,
          kGroupsOfQueue,
          "message {} in group {}",
          number(fact.key),
          number(fact.group));
  history.group = fact.group;
  ModelGroup& group = found->second;
  group.arrive(wall_);
  if (history.former_group == fact.group) ++group.failed_again;
  add_name(group.sources, history.dead_letter_source);
  if (!history.attempts.empty()) add_name(group.consumers, history.attempts.back().by);
  count_failed(group.codes, history);
  if (group.status == queue::GroupStatus::resolved) group.status = queue::GroupStatus::regressed;
  const bool over = (group.ignored_until != Timestamp() && wall_ >= group.ignored_until) ||
                    (group.ignored_to_total != 0 && group.total >= group.ignored_to_total);
  if (group.status == queue::GroupStatus::ignored && over) {
    group.status = queue::GroupStatus::regressed;
    group.ignored_until = Timestamp();
    group.ignored_to_total = 0;
  }
}

void Model::on(const queue::GroupMarked& fact) {
  const auto found = groups_.find(fact.group);
  require(found != groups_.end(), kSpeaksOfWhatIs, "group {}", number(fact.group));
  found->second.status = fact.status;
  found->second.note = fact.note;
  found->second.marked_by = fact.actor;
  found->second.owner = fact.owner;
  found->second.ignored_until = fact.ignored_until;
  found->second.ignored_to_total = fact.ignored_to_total;
}

void Model::on(const queue::ProcessedCounted& fact) {
  queue_of(fact.queue, "processed").processed = fact.counts;
}

// ---- Jobs.

bool Model::plan_means(const queue::TaskPlan& plan, const ModelMessage& message) {
  if (message.order > plan.frozen_at) return false;
  if (plan.group != FailureGroupKey::none && plan.group != message.history.group) return false;
  unsigned number = 0;
  if (std::sscanf(plan.filter.c_str(), "received >= %u", &number) == 1) {
    return message.receive_count >= number;
  }
  if (std::sscanf(plan.filter.c_str(), "received < %u", &number) == 1) {
    return message.receive_count < number;
  }
  if (std::sscanf(plan.filter.c_str(), "redriven < %u", &number) == 1) {
    return message.history.redrives < number;
  }
  return true;
}

// Checks a plan: no other messages, no more than its limit and its stage, and no FIFO group out of
// order.
void Model::check_plan(TaskKey key, const ModelTask& task, const ModelMessage& message) const {
  const queue::TaskPlan& plan = task.plan;
  if (plan.frozen_at == 0) return;
  const auto id = number(key);
  require(plan_means(plan, message), kJobs, "job {} moved another message", id);
  require(plan.limit == 0 || task.counts.moved < plan.limit, kJobs, "job {}: its limit", id);
  require(task.stage >= plan.stages.size() || task.counts.moved < plan.stages[task.stage],
          kJobs,
          "job {}: its stage",
          id);
  if (!queues_.at(task.source).settings.is_fifo() || plan.group != FailureGroupKey::none) return;
  for (const auto& [other, before] : messages_) {
    require(before.queue != task.source || before.group != message.group ||
                before.order >= message.order || !plan_means(plan, before) ||
                task.not_meant.contains(other) ||
                before.history.redrives > 0,  // A policy may have parked it.
            kJobs,
            "job {} let a message overtake message {}",
            id,
            number(other));
  }
}

std::set<MessageKey> Model::not_meant_by(const queue::TaskPlan& plan, QueueKey source) const {
  std::set<MessageKey> found;
  for (const auto& [key, message] : messages_) {
    if (message.queue == source && !plan_means(plan, message)) found.insert(key);
  }
  return found;
}

void Model::on(const queue::MoveTaskStarted& fact) {
  require(number(fact.task) == last_task_ + 1, kNumbers, "task {}", number(fact.task));
  last_task_ = number(fact.task);
  require(fact.to_move == count(fact.source, Phase::visible),
          "a task sets out to move what is visible",
          "{} of {}",
          fact.to_move,
          count(fact.source, Phase::visible));
  forget_old_tasks(fact.source);
  tasks_[fact.task] = {.id = fact.id,
                       .source = fact.source,
                       .source_arn = std::string(fact.source_arn),
                       .destination_arn = std::string(fact.destination_arn),
                       .rate = fact.rate,
                       .to_move = fact.to_move,
                       .plan = fact.plan,
                       .not_meant = not_meant_by(fact.plan, fact.source),
                       .counts = {},
                       .forgiven = {},
                       .since = now_,
                       .watched = now_,
                       .started_wall = wall_,
                       .failure = {}};
}

// Too many failures since the job was last resumed, or no known outcomes for too long.
bool Model::has_reason_to_halt(const ModelTask& task) const {
  const std::uint64_t failed = task.counts.failed_again - task.forgiven.failed_again;
  const std::uint64_t settled = task.counts.settled() - task.forgiven.settled();
  const bool broken = failed * 100 > task.plan.failure_percent_max * settled;
  const bool watched =
      task.stage < task.plan.stages.size() &&
      now_ >= std::max(task.watched, task.since) + std::chrono::seconds(task.plan.watch_seconds);
  return (broken && task.plan.failure_percent_max < 100) || watched;
}

bool Model::must_halt(const ModelTask& task) const {
  constexpr std::uint64_t kEnough = 20;
  if (task.status != TaskStatus::running || task.plan.failure_percent_max >= 100) return false;
  if (!queues_.contains(task.source)) return false;
  const auto& counts = task.counts;
  const std::uint64_t failed = counts.failed_again - task.forgiven.failed_again;
  const std::uint64_t settled = counts.settled() - task.forgiven.settled();
  const std::uint64_t at_stake = counts.moved - task.forgiven.settled() - task.forgiven.gone;
  const auto too_many = [&](std::uint64_t of) {
    return failed * 100 > task.plan.failure_percent_max * of;
  };
  if (task.stage >= task.plan.stages.size()) return settled >= kEnough && too_many(settled);
  if (counts.moved < task.plan.stages[task.stage]) return false;
  return too_many(at_stake) || (counts.open() == 0 && too_many(settled));
}

void Model::check_change(const ModelTask& task, const queue::MoveTaskChanged& fact) const {
  const auto id = number(fact.task);
  require(!over(task.status), "a task ends once", "task {} changed", id);
  if (fact.status == TaskStatus::halted) {
    require(task.status == TaskStatus::running && has_reason_to_halt(task),
            kJobs,
            "job {} halted for no reason",
            id);
  }
  if (fact.stage == task.stage) return;
  require(fact.stage == task.stage + 1 && task.stage < task.plan.stages.size() &&
              task.counts.moved >= task.plan.stages[task.stage] && task.counts.open() == 0,
          kJobs,
          "job {}: its next stage came too early",
          id);
}

void Model::on(const queue::MoveTaskChanged& fact) {
  const auto found = tasks_.find(fact.task);
  require(found != tasks_.end(), kSpeaksOfWhatIs, "task {}", number(fact.task));
  ModelTask& task = found->second;
  check_change(task, fact);
  const bool again = task.status != TaskStatus::running && fact.status == TaskStatus::running;
  if (task.status == TaskStatus::halted && again) task.forgiven = task.counts;
  if (again) task.since = now_;
  task.status = fact.status;
  task.rate = fact.rate;
  task.stage = fact.stage;
  task.failure = fact.note;
}

// A message that the plan selects and that was available since the job last started to run.
std::optional<queue::MessageKey> Model::left_behind(const ModelTask& task) const {
  if (queues_.at(task.source).settings.is_fifo()) return std::nullopt;
  if (task.plan.group != FailureGroupKey::none) return std::nullopt;
  if (disk_fails_ && !task.plan.filter.empty()) return std::nullopt;
  const auto left = std::ranges::find_if(messages_, [&](const auto& entry) {
    const ModelMessage& message = entry.second;
    // A message that a consumer released in the same millisecond may have been in flight when the
    // job looked.
    const bool was_there = message.receive_count == 0 ? message.visible_at <= task.since
                                                      : message.visible_at < task.since;
    return message.queue == task.source && message.phase == Phase::visible && was_there &&
           message.history.received_at <= task.since &&
           // Jobs skip messages parked by a policy, now or when they began.
           (task.plan.include_parked || message.history.redrives == 0) &&
           plan_means(task.plan, message);
  });
  return left == messages_.end() ? std::nullopt : std::optional(left->first);
}

void Model::on(const queue::MoveTaskEnded& fact) {
  const auto found = tasks_.find(fact.task);
  require(found != tasks_.end() && !over(found->second.status),
          "a task ends once",
          "task {}",
          number(fact.task));
  ModelTask& task = found->second;
  require(task.status == TaskStatus::running || fact.status == TaskStatus::cancelled,
          "only running tasks end by themselves",
          "task {}",
          number(fact.task));
  task.status = fact.status;
  task.failure = fact.failure;
  task.ended_wall = wall_;
  if (fact.status != TaskStatus::completed) return;
  const std::uint64_t most =
      task.plan.limit == 0 ? task.to_move : std::min(task.plan.limit, task.to_move);
  const auto left = task.plan.frozen_at == 0 ? std::nullopt : left_behind(task);
  const bool nothing_left = task.plan.frozen_at == 0 ? available(task.source).empty() : !left;
  require(task.counts.moved == most || nothing_left,
          "a task is complete when nothing is left to move",
          "task {} moved {} of {}, left message {}",
          number(fact.task),
          task.counts.moved,
          most,
          left ? number(*left) : 0);
}

void Model::forget_old_tasks(QueueKey source) {
  std::vector<TaskKey> ended;
  for (const auto& [key, task] : tasks_) {
    if (task.source == source && over(task.status)) ended.push_back(key);
  }
  for (std::size_t i = 0; i + kTasksKept <= ended.size(); ++i) tasks_.erase(ended[i]);
}

}  // namespace redrive::sim
