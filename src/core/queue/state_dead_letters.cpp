// Applies facts about failures, failure groups, redrive jobs and the bin.

#include <algorithm>
#include <cassert>

#include "core/queue/state.h"

namespace redrive::queue {
namespace {

// A purge updates the counts of jobs at once, unless it affects more messages than this.
constexpr std::size_t kSettledAtOnce = 1000;

}  // namespace

const FailureGroup* State::find_group(FailureGroupKey key) const {
  const auto found = groups_.find(key);
  return found == groups_.end() ? nullptr : &found->second;
}

const FailureGroup* State::find_group(QueueKey queue, const GroupId& id) const {
  const auto found = group_index_.find({queue, id});
  return found == group_index_.end() ? nullptr : find_group(found->second);
}

std::size_t State::groups_of(QueueKey queue) const {
  const auto found = group_counts_.find(queue);
  return found == group_counts_.end() ? 0 : found->second;
}

std::vector<const FailureGroup*> State::groups_in(QueueKey queue) const {
  std::vector<const FailureGroup*> found;
  const auto [first, last] = group_range(queue);
  for (auto at = first; at != last; ++at) found.push_back(&groups_.at(at->second));
  std::ranges::sort(found, {}, &FailureGroup::key);
  return found;
}

std::pair<State::GroupIndex::const_iterator, State::GroupIndex::const_iterator> State::group_range(
    QueueKey queue) const {
  return {group_index_.lower_bound({queue, GroupId{}}),
          group_index_.lower_bound({next(queue), GroupId{}})};
}

std::vector<MessageKey> State::take_ungrouped(std::size_t max) {
  const std::size_t count = std::min(max, ungrouped_.size());
  std::vector<MessageKey> taken(ungrouped_.begin(),
                                ungrouped_.begin() + static_cast<std::ptrdiff_t>(count));
  ungrouped_.erase(ungrouped_.begin(), ungrouped_.begin() + static_cast<std::ptrdiff_t>(count));
  return taken;
}

void State::on(const ErrorLearned& fact, const Stamp&) {
  errors_.learn(fact.error, fact.text);
}

void State::on(const FailureReported& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  const Slot slot = expect_message(*queue, fact.key);
  if (slot == kNoSlot) return;
  errors_.hold(fact.error);
  History& history = messages_.history(slot);
  errors_.let_go(history.fail_attempt(fact.error, stamp.now, fact.company), loading_);
  if (fact.retries) history.retries = *fact.retries;
  if (!fact.visible_at || messages_[slot].phase != Phase::in_flight) return;
  messages_[slot].visibility_touched = true;
  mailbox(*queue).set_visible_at(slot, *fact.visible_at, stamp.now);
}

void State::settle_job(Slot slot, Outcome outcome) {
  const History* known = messages_.history_if(slot);
  if (known == nullptr || known->job == TaskKey::none) return;
  History& history = messages_.history(slot);
  MoveTask* const task = tasks_.find(std::exchange(history.job, TaskKey::none));
  if (task == nullptr || outcomes_counted_) return;
  TaskCounts& counts = task->counts;
  ++(outcome == Outcome::succeeded      ? counts.succeeded
     : outcome == Outcome::failed_again ? counts.failed_again
                                        : counts.gone);
}

void State::settle_all(const Queue& queue) {
  const std::size_t size = mailbox(queue).size();
  // What is left open here is settled when the mailbox is emptied, in slices.
  if (loading_ || size > std::min(kSettledAtOnce, steps_left_)) return;
  steps_left_ -= size;
  count_work(size);
  mailbox(queue).for_each([this](Slot slot) { settle_job(slot, Outcome::gone); });
}

void State::leave_group(Slot slot) {
  const History* known = messages_.history_if(slot);
  if (known == nullptr || known->group == FailureGroupKey::none) return;
  History& history = messages_.history(slot);
  const auto group = groups_.find(std::exchange(history.group, FailureGroupKey::none));
  if (group != groups_.end() && group->second.count > 0) --group->second.count;
}

void State::let_go_errors(Slot slot) {
  if (const History* history = messages_.history_if(slot)) let_go_errors(*history);
}

void State::let_go_errors(const History& history) {
  for (const Attempt& attempt : history.attempts) errors_.let_go(attempt.error, loading_);
}

void State::hold_errors(const History& history) {
  for (const Attempt& attempt : history.attempts) errors_.hold(attempt.error);
}

void State::on(const GroupLearned& fact, const Stamp& stamp) {
  last_group_ = std::max(last_group_, fact.group);
  if (loading_ || awaits_counts(fact.queue)) return;  // A snapshot contains it.
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance_fully(*queue, stamp.now);  // Which group is empty must not depend on earlier lookups.
  make_room_for_group(fact.queue);
  add_group(fact);
}

FailureGroup& State::add_group(const GroupLearned& fact) {
  FailureGroup& group = groups_[fact.group];
  group.key = fact.group;
  group.queue = fact.queue;
  group.identity = fact.identity;
  const bool fresh =
      group_index_.insert_or_assign({fact.queue, fact.identity.id}, fact.group).second;
  if (fresh) ++group_counts_[fact.queue];
  return group;
}

bool State::has_room_for_group(QueueKey queue) const {
  return groups_of(queue) < kGroupsPerQueue || oldest_empty_group(queue) != nullptr;
}

// Evicts the group that has been empty for the longest time.
void State::make_room_for_group(QueueKey queue) {
  if (groups_of(queue) < kGroupsPerQueue) return;
  const FailureGroup* oldest = oldest_empty_group(queue);
  if (oldest == nullptr) return;
  group_counts_[queue] -= group_index_.erase({queue, oldest->identity.id});
  groups_.erase(oldest->key);
}

const FailureGroup* State::oldest_empty_group(QueueKey queue) const {
  const FailureGroup* oldest = nullptr;
  const auto [first, last] = group_range(queue);
  for (auto at = first; at != last; ++at) {
    const FailureGroup& group = groups_.at(at->second);
    ++work_;
    const bool older = oldest == nullptr || group.arrivals.last_wall < oldest->arrivals.last_wall;
    if (group.count == 0 && older) oldest = &group;
  }
  return oldest;
}

void State::forget_groups(QueueKey queue) {
  const auto [first, last] = group_range(queue);
  for (auto at = first; at != last; ++at) {
    groups_.erase(at->second);
    ++work_;
  }
  group_index_.erase(first, last);
  group_counts_.erase(queue);
  group_rules_.erase(group_rules_.lower_bound({queue, 0}),
                     group_rules_.lower_bound({next(queue), 0}));
  new_group_rules_.erase(new_group_rules_.lower_bound({queue, 0}),
                         new_group_rules_.lower_bound({next(queue), 0}));
}

std::vector<GroupRule> State::group_rules_of(QueueKey queue) const {
  std::vector<GroupRule> rules;
  for (auto at = group_rules_.lower_bound({queue, 0});
       at != group_rules_.end() && at->first.first == queue;
       ++at) {
    rules.push_back(at->second);
  }
  return rules;
}

State::GroupId State::merged_id(QueueKey queue, const GroupId& id) const {
  GroupId merged = id;
  for (auto at = group_rules_.lower_bound({queue, 0});
       at != group_rules_.end() && at->first.first == queue;
       ++at) {
    const GroupRule& rule = at->second;
    if (rule.merges() && rule.from == merged) merged = rule.into.id;
  }
  return merged;
}

void State::on(const GroupRuled& fact, const Stamp&) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  ++group_rules_version_;
  const bool fresh =
      group_rules_.insert_or_assign({fact.queue, fact.rule.number}, fact.rule).second;
  if (fact.rule.applied) {
    new_group_rules_.erase({fact.queue, fact.rule.number});
  } else {
    new_group_rules_.insert({fact.queue, fact.rule.number});
  }
  // A checkpoint repeats rules, and one that recovery does not begin with is replayed as well: only
  // the first time adds arrivals. While loading, the snapshots of groups have them already.
  if (!fresh || loading_ || awaits_counts(fact.queue) || !fact.rule.merges()) return;
  const auto from = group_index_.find({fact.queue, fact.rule.from});
  const auto into = group_index_.find({fact.queue, fact.rule.into.id});
  if (from == group_index_.end() || into == group_index_.end()) return;
  GroupArrivals& arrivals = groups_.at(from->second).arrivals;
  groups_.at(into->second).arrivals.absorb(arrivals);
  arrivals.total = 0;
  arrivals.failed_again = 0;
  arrivals.by_minute = {};
  arrivals.by_hour = {};
  arrivals.by_day = {};
}

void State::on(const GroupRuleApplied& fact, const Stamp&) {
  const auto found = group_rules_.find({fact.queue, fact.number});
  if (found != group_rules_.end()) found->second.applied = true;
  new_group_rules_.erase({fact.queue, fact.number});
}

void State::on(const GroupRuleRemoved& fact, const Stamp&) {
  ++group_rules_version_;
  group_rules_.erase({fact.queue, fact.number});
  new_group_rules_.erase({fact.queue, fact.number});
}

void State::on(const MessageGrouped& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  const Slot slot = expect_message(*queue, fact.key);
  if (slot == kNoSlot) return;
  if (awaits_counts(fact.queue)) {  // Counted when the groups are there.
    messages_.history(slot).group = fact.group;
    return;
  }
  const FailureGroupKey before = messages_.history(slot).group;
  if (before != FailureGroupKey::none && find_group(before) != nullptr) {
    return change_group(slot, fact.group, stamp);
  }
  History& history = messages_.history(slot);
  history.group = fact.group;
  const auto found = groups_.find(fact.group);
  if (found ==
      groups_.end()) {  // It was evicted in the same record, or it will be counted at the end.
    if (loading_) return;
    history.group = FailureGroupKey::none;
    ungrouped_.push_back(fact.key);
    return;
  }
  FailureGroup& group = found->second;
  ++group.count;
  group.add_sample(fact.key);
  group.arrivals.note(stamp.wall);
  if (history.former_group == fact.group) ++group.arrivals.failed_again;
  note_name(group.arrivals.sources, history.dead_letter_source);
  if (!history.attempts.empty()) note_name(group.arrivals.consumers, history.attempts.back().by);
  count_failed(group.codes, history, stamp);
  if (group.status == GroupStatus::resolved) group.status = GroupStatus::regressed;
  // The condition for ignoring the group has ended: it needs attention again.
  if (group.status == GroupStatus::ignored && group.status_at(stamp.wall) != group.status) {
    group.status = GroupStatus::regressed;
    group.ignored_until = Timestamp();
    group.ignored_to_total = 0;
  }
}

// A manual rule moves a message into another group. The arrivals of merged groups were added when
// the rule was made; a group that is split off counts what it gets.
void State::change_group(Slot slot, FailureGroupKey to, const Stamp& stamp) {
  const auto found = groups_.find(to);
  const FailureGroup* from = find_group(messages_.history(slot).group);
  if (found == groups_.end() || from == nullptr || from->key == to) return;
  FailureGroup& group = found->second;
  const bool counted = merged_id(group.queue, from->identity.id) == group.identity.id;
  leave_group(slot);
  History& history = messages_.history(slot);
  history.group = to;
  ++group.count;
  group.add_sample(messages_[slot].key);
  count_failed(group.codes, history, stamp);
  if (counted) return;
  const auto died = std::find_if(history.events.rbegin(), history.events.rend(), [](const auto& e) {
    return e.kind == LineageEvent::Kind::dead_lettered;
  });
  if (died != history.events.rend()) group.arrivals.note(died->wall);
  note_name(group.arrivals.sources, history.dead_letter_source);
  if (!history.attempts.empty()) note_name(group.arrivals.consumers, history.attempts.back().by);
}

void State::on(const GroupMarked& fact, const Stamp&) {
  const auto found = groups_.find(fact.group);
  if (found == groups_.end()) return;
  found->second.status = fact.status;
  found->second.note = fact.note;
  found->second.marked_by = fact.actor;
  found->second.owner = fact.owner;
  found->second.ignored_until = fact.ignored_until;
  found->second.ignored_to_total = fact.ignored_to_total;
}

void State::on(const ProcessedCounted& fact, const Stamp&) {
  if (Queue* queue = find(fact.queue)) queue->processed = fact.counts;
}

void State::on(const MessageEdited& fact, const Stamp& stamp) {
  const Slot slot = messages_.find(fact.key);
  if (slot == kNoSlot) return;  // Not loaded yet.
  ledger_.let_go(messages_[slot].body);
  messages_[slot].body = fact.body;
  ledger_.hold(fact.body);
  const Queue* queue = find(queue_of(slot));
  messages_.history(slot).add({.wall = stamp.wall,
                               .from = queue == nullptr ? NameIndex::none : queue->arn,
                               .actor = fact.actor,
                               .reason = fact.reason,
                               .kind = LineageEvent::Kind::edited});
}

// From one queue to another, its contents and its count of receives unchanged.
Slot State::carry_over(MessageKey key, QueueKey from_key, QueueKey to_key, std::uint64_t sequence,
                       const Stamp& stamp) {
  last_key_ = std::max(last_key_, static_cast<MessageKey>(sequence));
  Queue* from = expect_queue(from_key);
  Queue* to = expect_queue(to_key);
  if (to == nullptr) drop_loaded(from, key);
  if (from == nullptr || to == nullptr) return kNoSlot;
  advance(*from, stamp.now);
  advance(*to, stamp.now);
  const Slot slot = expect_message(*from, key);
  if (slot == kNoSlot) return kNoSlot;
  std::string group(mailbox(*from).group_name(slot));
  mailbox(*from).leave(slot);
  leave_group(slot);
  Message& message = messages_[slot];
  History& history = messages_.history(slot);
  history.end_attempt(AttemptEnd::visibility_expired, message.visible_at);
  history.entered_generation = history.prior_receives + message.receive_count;
  history.sequence = sequence;
  message.sent_at = stamp.now;  // The time in the bin, or in the queue again, counts from here.
  enter_anew(slot, *from, *to, std::move(group));
  return slot;
}

void State::on(const MessageDiscarded& fact, const Stamp& stamp) {
  const Slot slot = carry_over(fact.key, fact.from, fact.to, fact.sequence, stamp);
  if (slot == kNoSlot) return;
  settle_job(slot, Outcome::gone);
  messages_.history(slot).add({.wall = stamp.wall,
                               .from = find(fact.from)->arn,
                               .actor = fact.actor,
                               .reason = fact.reason,
                               .kind = LineageEvent::Kind::discarded});
}

void State::on(const MessageRestored& fact, const Stamp& stamp) {
  const Slot slot = carry_over(fact.key, fact.from, fact.to, fact.sequence, stamp);
  if (slot == kNoSlot) return;
  messages_.history(slot).add({.wall = stamp.wall,
                               .from = find(fact.from)->arn,
                               .actor = fact.actor,
                               .kind = LineageEvent::Kind::restored});
  if (!loading_) ungrouped_.push_back(fact.key);
}

void State::on(const MessageDamaged& fact, const Stamp& stamp) {
  if (Queue* from = find(fact.from)) {
    advance(*from, stamp.now);
    const Slot held = find_message(*from, fact.key);
    if (held != kNoSlot) end_delivery(held, stamp.now);
  }
  const Slot slot = carry_over(fact.key, fact.from, fact.to, fact.sequence, stamp);
  if (slot == kNoSlot) return;
  settle_job(slot, Outcome::gone);
  messages_.history(slot).add({.wall = stamp.wall,
                               .from = find(fact.from)->arn,
                               .reason = fact.error,
                               .kind = LineageEvent::Kind::damaged});
}

void State::on(const MessageSettled& fact, const Stamp& stamp) {
  if (Queue* from = find(fact.from)) {
    advance(*from, stamp.now);
    const Slot held = find_message(*from, fact.key);
    if (held != kNoSlot) {
      count_processed(*from, held, stamp);
      messages_.history(held).end_attempt(AttemptEnd::processed, stamp.now);
    }
  }
  const Slot slot = carry_over(fact.key, fact.from, fact.to, fact.sequence, stamp);
  if (slot == kNoSlot) return;
  settle_job(slot, Outcome::succeeded);
  History& history = messages_.history(slot);
  const auto redriven =
      std::find_if(history.events.rbegin(), history.events.rend(), [](const LineageEvent& event) {
        return event.kind == LineageEvent::Kind::redriven;
      });
  history.add({.wall = stamp.wall,
               .from = find(fact.from)->arn,
               .job = redriven == history.events.rend() ? TaskKey::none : redriven->job,
               .kind = LineageEvent::Kind::processed});
}

void State::on(const MoveTaskStarted& fact, const Stamp& stamp) {
  last_task_ = std::max(last_task_, fact.task);
  if (outcomes_counted_ || awaits_counts(fact.source)) return;  // A snapshot brings it.
  forget_old_tasks(fact.source);
  add_task(fact).started_wall = stamp.wall;
}

MoveTask& State::add_task(const MoveTaskStarted& fact) {
  return tasks_.put({.key = fact.task,
                     .id = fact.id,
                     .source = fact.source,
                     .source_arn = std::string(fact.source_arn),
                     .destination_arn = std::string(fact.destination_arn),
                     .rate = fact.rate,
                     .to_move = fact.to_move,
                     .plan = fact.plan});
}

void State::on(const MoveTaskChanged& fact, const Stamp& stamp) {
  MoveTask* const found = tasks_.find(fact.task);
  if (found == nullptr) return;
  MoveTask& task = *found;
  if (task.status == TaskStatus::halted && fact.status == TaskStatus::running) {
    // Expired and purged messages are counted, even if they are not removed yet.
    expire_all(stamp.now);
    while (bury(SIZE_MAX)) {
    }
    task.forgiven = task.counts;
  }
  task.status = fact.status;
  task.rate = fact.rate;
  task.stage = fact.stage;
  task.failure = fact.note;
}

void State::on(const MoveTaskEnded& fact, const Stamp& stamp) {
  MoveTask* const task = tasks_.find(fact.task);
  if (task == nullptr) return;
  task->status = fact.status;
  task->failure = fact.failure;
  task->ended_wall = stamp.wall;
}

void State::forget_old_tasks(QueueKey source) {
  std::vector<TaskKey> ended = tasks_.of(source);
  std::erase_if(ended, [&](TaskKey key) { return !is_over(tasks_.find(key)->status); });
  if (ended.size() < kTasksKeptPerSource) return;
  for (std::size_t i = 0; i <= ended.size() - kTasksKeptPerSource; ++i) tasks_.erase(ended[i]);
}

bool State::takes_counts(QueueKey queue, const Stamp& stamp) {
  if (loading_) return true;
  if (!awaits_counts(queue)) return false;
  expire_all(stamp.now);
  while (bury(SIZE_MAX)) {
  }
  return find(queue) != nullptr;
}

QueueKey State::next_counting(QueueKey after) const {
  QueueKey first = tasks_.next_source(after);
  const auto consider = [&](QueueKey key) {
    if (first == QueueKey::none || number(key) < number(first)) first = key;
  };
  const auto group = group_index_.lower_bound({next(after), GroupId{}});
  if (group != group_index_.end()) consider(group->first.first);
  const auto rule = group_rules_.lower_bound({next(after), 0});
  if (rule != group_rules_.end()) consider(rule->first.first);
  return first;
}

void State::on(const TaskSnapshot& fact, const Stamp& stamp) {
  if (!takes_counts(fact.started.source, stamp)) return;
  last_task_ = std::max(last_task_, fact.started.task);
  MoveTask& task = add_task(fact.started);
  task.status = fact.status;
  task.counts = fact.counts;
  task.forgiven = fact.forgiven;
  task.stage = fact.stage;
  task.started_wall = fact.started_wall;
  task.ended_wall = fact.ended_wall;
  task.failure = fact.failure;
}

void State::on(const GroupSnapshot& fact, const Stamp& stamp) {
  if (!takes_counts(fact.learned.queue, stamp) || find(fact.learned.queue) == nullptr) return;
  last_group_ = std::max(last_group_, fact.learned.group);
  FailureGroup& group = add_group(fact.learned);
  group.status = fact.status;
  group.note = fact.note;
  group.marked_by = fact.marked_by;
  assert(fact.restored != nullptr);
  group.arrivals = *fact.restored;
  group.owner = fact.owner;
  group.ignored_until = fact.ignored_until;
  group.ignored_to_total = fact.ignored_to_total;
}

// Which messages are in which group follows from the messages, here and in the next two.
void State::count_groups() {
  for (Slot slot = 0; slot < messages_.end(); ++slot) {
    if (messages_[slot].key == MessageKey::none || is_buried(slot)) continue;
    count_member(slot);
  }
  list_ungrouped();
}

void State::count_members(const Queue& queue) {
  if (groups_of(queue.key) == 0) return;
  mailbox(queue).for_each([this](Slot slot) { count_member(slot); });
}

void State::count_member(Slot slot) {
  const History* history = messages_.history_if(slot);
  if (history == nullptr) return;
  const auto group = groups_.find(history->group);
  if (group == groups_.end()) return;
  ++group->second.count;
  group->second.add_sample(messages_[slot].key);
}

void State::list_ungrouped() {
  ungrouped_.clear();
  for (Slot slot = 0; slot < messages_.end(); ++slot) {
    if (messages_[slot].key == MessageKey::none || is_buried(slot)) continue;
    if (wants_group(slot)) ungrouped_.push_back(messages_[slot].key);
  }
}

bool State::wants_group(Slot slot) const {
  const History* history = messages_.history_if(slot);
  const Queue* queue = find(queue_of(slot));
  return history != nullptr && queue != nullptr && !queue->identity.is_hidden() &&
         history->dead_letter_source != NameIndex::none && find_group(history->group) == nullptr;
}

}  // namespace redrive::queue
