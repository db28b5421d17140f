#include "sim/model.h"

#include <algorithm>
#include <set>

#include "sim/model_parts.h"
#include "sim/violation.h"

namespace redrive::sim {

using queue::MessageKey;
using queue::NameIndex;
using queue::Phase;
using queue::QueueKey;
using queue::TaskKey;
using queue::TaskStatus;

namespace {

void add_attempt(queue::History& history, Timestamp wall, NameIndex by, bool isolated) {
  ++history.attempts_total;
  history.attempts.push_back(
      {.received_wall = wall,
       .by = by,
       .isolation = isolated ? queue::Isolation::on : queue::Isolation::off});
  // The first three and the last twenty are kept.
  if (history.attempts.size() > 23) history.attempts.erase(history.attempts.begin() + 3);
}

}  // namespace

void Model::apply(const Record& record) {
  require(record.stamp.now >= last_stamp_.now,
          "time never runs backwards in the journal",
          "record {}: {} after {}",
          record.sequence,
          record.stamp.now.ms(),
          last_stamp_.now.ms());
  last_stamp_ = record.stamp;
  wall_ = record.stamp.wall;
  edited_ = MessageKey::none;
  original_kept_ = false;
  disk_fails_ = record.disk_fails;
  advance(record.stamp.now);
  for (const queue::Change& fact : record.facts) {
    fact.visit([this](const auto& known) { on(known); });
  }
}

void Model::advance(Timestamp now) {
  now_ = now;
  drop_messages([&](const ModelMessage& message) {
    return message.sent_at + queues_.at(message.queue).settings.retention <= now;
  });
  for (auto& [key, message] : messages_) {
    if (message.phase != Phase::visible && message.visible_at <= now)
      message.phase = Phase::visible;
  }
  for (auto& [key, queue] : queues_) {
    std::erase_if(queue.dedup, [&](const auto& entry) { return entry.second.expires <= now; });
    std::erase_if(queue.attempts, [&](const auto& entry) { return entry.second.expires <= now; });
  }
}

const ModelDedup* Model::find_dedup(const ModelQueue& queue, std::string_view group,
                                    std::string_view id) const {
  const bool by_group =
      queue.settings.fifo->dedup_scope_at_birth == queue::DedupScope::message_group;
  const auto found = queue.dedup.find({by_group ? std::string(group) : "", std::string(id)});
  return found == queue.dedup.end() ? nullptr : &found->second;
}

std::optional<QueueKey> Model::find_by_arn(std::string_view arn) const {
  for (const auto& [key, queue] : queues_) {
    if (queue.identity.arn() == arn) return key;
  }
  return std::nullopt;
}

std::optional<QueueKey> Model::dead_letter_target(QueueKey key) const {
  const ModelQueue& queue = queues_.at(key);
  if (!queue.settings.redrive) return std::nullopt;
  const auto target = find_by_arn(queue.settings.redrive->target_arn);
  if (!target || *target == key) return std::nullopt;
  if (queues_.at(*target).settings.is_fifo() != queue.settings.is_fifo()) return std::nullopt;
  return target;
}

Standing Model::standing(const queue::ReceiptHandle& handle, QueueKey queue) const {
  if (handle.queue != queue) return Standing::foreign;
  const auto found = messages_.find(handle.key);
  if (found == messages_.end() || found->second.queue != queue ||
      handle.generation <= found->second.history.entered_generation) {
    return Standing::gone;
  }
  const ModelMessage& message = found->second;
  const bool holds = message.phase == Phase::in_flight && message.generation() == handle.generation;
  return holds ? Standing::current : Standing::stale;
}

std::size_t Model::count(QueueKey queue, Phase phase) const {
  return static_cast<std::size_t>(std::ranges::count_if(messages_, [&](const auto& entry) {
    return entry.second.queue == queue && entry.second.phase == phase;
  }));
}

NameIndex Model::find_name(std::string_view text) const {
  if (text.empty()) return NameIndex::none;
  const auto found = std::ranges::find(names_, text);
  return static_cast<NameIndex>(found == names_.end() ? 0 : found - names_.begin());
}

ModelQueue& Model::queue_of(QueueKey key, std::string_view fact) {
  const auto found = queues_.find(key);
  require(found != queues_.end(), kSpeaksOfWhatIs, "{}: queue {}", fact, number(key));
  return found->second;
}

ModelMessage& Model::message_in(QueueKey queue, MessageKey key, std::string_view fact) {
  const auto found = messages_.find(key);
  require(found != messages_.end() && found->second.queue == queue,
          kSpeaksOfWhatIs,
          "{}: message {} in queue {}",
          fact,
          number(key),
          number(queue));
  return found->second;
}

void Model::take_sequence(std::uint64_t sequence, std::string_view fact) {
  require(sequence == last_key_ + 1, kNumbers, "{}: {} after {}", fact, sequence, last_key_);
  last_key_ = sequence;
}

void Model::drop_messages(const std::function<bool(const ModelMessage&)>& over) {
  for (auto at = messages_.begin(); at != messages_.end();) {
    const auto here = at++;
    if (!over(here->second)) continue;
    settle(here->second, &queue::TaskCounts::gone);
    messages_.erase(here);
  }
}

void Model::on(const queue::ServerStarted& fact) {
  require(!started_, "a journal starts once", "a second start");
  started_ = true;
  secret_ = fact.secret;
}

void Model::on(const queue::NameLearned& fact) {
  if (number(fact.index) < names_.size()) {  // A checkpoint repeats it.
    require(names_[number(fact.index)] == fact.text, kNumbers, "name {} changed", fact.text);
    return;
  }
  require(number(fact.index) == names_.size(), kNumbers, "name {}", fact.text);
  require(find_name(fact.text) == NameIndex::none, kNumbers, "name {} twice", fact.text);
  names_.emplace_back(fact.text);
}

void Model::on(const queue::QueueCreated& fact) {
  require(number(fact.queue) == last_queue_ + 1, kNumbers, "queue {}", number(fact.queue));
  last_queue_ = number(fact.queue);
  require(!find_by_arn(fact.identity.arn()), kSpeaksOfWhatIs, "{} exists", fact.identity.name);
  queues_[fact.queue] = {.identity = fact.identity,
                         .arn = fact.arn,
                         .settings = fact.settings,
                         .tags = fact.tags,
                         .created_wall = wall_,
                         .modified_wall = wall_};
  deleted_.erase(fact.identity);
}

void Model::on(const queue::QueueSettingsChanged& fact) {
  ModelQueue& queue = queue_of(fact.queue, "settings changed");
  const bool delays = queue.settings.is_fifo() && queue.settings.delay != fact.settings.delay;
  queue.settings = fact.settings;
  queue.modified_wall = wall_;
  if (!delays) return;
  for (auto& [key, message] : messages_) {  // A new delay applies to waiting messages.
    if (message.queue != fact.queue || message.phase != Phase::delayed) continue;
    message.visible_at = message.sent_at + fact.settings.delay;
    if (message.visible_at <= now_) message.phase = Phase::visible;
  }
}

void Model::on(const queue::QueueTagsChanged& fact) {
  queue_of(fact.queue, "tags changed").tags = fact.tags;
}

void Model::on(const queue::QueueDeleted& fact) {
  deleted_[queue_of(fact.queue, "deleted").identity] = now_;
  queues_.erase(fact.queue);
  drop_messages([&](const ModelMessage& message) { return message.queue == fact.queue; });
  std::erase_if(groups_, [&](const auto& entry) { return entry.second.queue == fact.queue; });
  std::erase_if(group_rules_, [&](const auto& entry) { return entry.first.first == fact.queue; });
  std::erase_if(tasks_, [&](const auto& entry) { return entry.second.source == fact.queue; });
}

void Model::on(const queue::EntryPut& fact) {
  entries_[{fact.kind, std::string(fact.name)}] = fact.value;
}

void Model::on(const queue::EntryRemoved& fact) {
  const auto gone = entries_.erase({fact.kind, std::string(fact.name)});
  require(gone == 1, kSpeaksOfWhatIs, "no entry {}", fact.name);
}

void Model::on(const queue::ServerReset&) {
  archived_.clear();
  queues_.clear();
  messages_.clear();
  tasks_.clear();
  groups_.clear();
  group_rules_.clear();
  deleted_.clear();
  deploys_.clear();
  entries_.clear();
}

void Model::on(const queue::QueuePurged& fact) {
  ModelQueue& queue = queue_of(fact.queue, "purged");
  drop_messages([&](const ModelMessage& message) { return message.queue == fact.queue; });
  queue.dedup.clear();
  queue.attempts.clear();
  queue.purged_at = now_;
}

void Model::on(const queue::MessageSent& fact) {
  const ModelQueue& queue = queue_of(fact.queue, "sent");
  take_sequence(number(fact.key), "sent");
  messages_[fact.key] = {.queue = fact.queue,
                         .group = std::string(fact.group),
                         .phase = fact.visible_at > now_ ? Phase::delayed : Phase::visible,
                         .visible_at = fact.visible_at,
                         .sent_at = now_,
                         .order = number(fact.key),
                         .history = {}};
  if (!queue.settings.fifo) return;
  require(find_dedup(queue, fact.group, fact.dedup) == nullptr,
          "deduplication windows are exact",
          "message {} repeats {}",
          number(fact.key),
          fact.dedup);
  const bool by_group =
      queue.settings.fifo->dedup_scope_at_birth == queue::DedupScope::message_group;
  queues_[fact.queue].dedup[{std::string(by_group ? fact.group : ""), std::string(fact.dedup)}] = {
      .expires = now_ + std::chrono::minutes(5),
      .message_id = fact.message_id,
      .sequence = number(fact.key)};
}

void Model::on(const queue::MessagesReceived& fact) {
  ModelQueue& queue = queue_of(fact.queue, "received");
  ModelAttempt attempt{.expires = now_ + std::chrono::minutes(5), .messages = {}};
  for (std::size_t i = 0; i < fact.count; ++i) {
    receive_one(fact, fact.keys[i]);
    attempt.messages.emplace_back(fact.keys[i], messages_.at(fact.keys[i]).generation());
  }
  if (!fact.attempt_id.empty()) {
    queue.attempts.insert_or_assign(std::string(fact.attempt_id), std::move(attempt));
  }
}

void Model::receive_one(const queue::MessagesReceived& fact, MessageKey key) {
  ModelMessage& message = message_in(fact.queue, key, "received");
  require(message.phase == Phase::visible,
          "only visible messages are received",
          "message {}",
          number(key));
  end_attempt(message.history, queue::AttemptEnd::visibility_expired, message.visible_at);
  if (message.receive_count == 0 || message.history.first_received_wall == Timestamp()) {
    message.history.first_received_wall = wall_;
  }
  message.history.received_at = now_;
  add_attempt(message.history, wall_, fact.by, fact.isolated);
  ++message.receive_count;
  message.visibility_touched = false;
  message.visible_at = fact.visible_at;
  message.phase = fact.visible_at > now_ ? Phase::in_flight : Phase::visible;
}

namespace {

// `name 10.0.0.1 app=v2` and `name 10.0.0.2 app=v2` run the same code.
std::string code_key_of(const std::string& consumer) {
  const std::size_t app = consumer.find(" app=");
  const std::string name = consumer.substr(0, consumer.find(' '));
  return app == std::string::npos ? name : name + consumer.substr(app);
}

void note_use(ModelCodeUse& use, Timestamp received, Timestamp wall) {
  const bool first = use.processed + use.failed == 0;
  use.first_wall = first ? received : std::min(use.first_wall, received);
  use.last_wall = wall;
}

}  // namespace

void Model::count_processed(ModelQueue& queue, const ModelMessage& message) {
  const auto& attempts = message.history.attempts;
  if (queue.identity.is_hidden() || attempts.empty()) return;
  if (attempts.back().by == NameIndex::none) return;
  ModelCodeUse& use = queue.codes[code_key_of(names_[number(attempts.back().by)])];
  note_use(use, attempts.back().received_wall, wall_);
  ++use.processed;
}

void Model::count_failed(ModelCodeUses& codes, const queue::History& history) {
  Timestamp since;
  for (const queue::LineageEvent& event : history.events) {
    using enum queue::LineageEvent::Kind;
    if (event.kind == redriven || event.kind == unarchived) since = event.wall;
  }
  std::vector<queue::Attempt> failed;
  for (const queue::Attempt& attempt : history.attempts) {
    const bool fails = attempt.end == queue::AttemptEnd::visibility_expired ||
                       attempt.end == queue::AttemptEnd::failed;
    const bool ran = attempt.isolation != queue::Isolation::not_run;
    if (fails && ran && attempt.received_wall >= since) failed.push_back(attempt);
  }
  const auto shared = [](const queue::Attempt& attempt) {
    return attempt.end == queue::AttemptEnd::failed && attempt.company > 1;
  };
  if (!std::ranges::all_of(failed, shared)) std::erase_if(failed, shared);
  if (failed.empty() && !history.attempts.empty()) failed.push_back(history.attempts.back());
  std::set<std::string> counted;
  for (const queue::Attempt& attempt : failed) {
    if (attempt.by == NameIndex::none) continue;
    const std::string code = code_key_of(names_[number(attempt.by)]);
    if (!counted.insert(code).second) continue;
    note_use(codes[code], attempt.received_wall, wall_);
    ++codes[code].failed;
  }
}

void Model::on(const queue::MessageDeleted& fact) {
  ModelMessage& message = message_in(fact.queue, fact.key, "deleted");
  count_processed(queues_.at(fact.queue), message);
  settle(message, &queue::TaskCounts::succeeded);
  messages_.erase(fact.key);
}

void Model::on(const queue::VisibilityChanged& fact) {
  ModelMessage& message = message_in(fact.queue, fact.key, "visibility changed");
  message.visibility_touched = true;
  if (fact.not_run) {
    queue::Attempt& last = message.history.attempts.back();
    require(message.phase == Phase::in_flight && last.isolation == queue::Isolation::on &&
                last.end == queue::AttemptEnd::open,
            "only what is held under isolation is returned unused",
            "message {}",
            number(fact.key));
    last.isolation = queue::Isolation::not_run;
    end_attempt(message.history, queue::AttemptEnd::released, now_);
  }
  if (fact.visible_at <= now_) {
    end_attempt(message.history, queue::AttemptEnd::released, now_);
    // For a message that is already visible nothing changes, not even its visible_at.
    if (message.phase == Phase::in_flight) message.visible_at = fact.visible_at;
    message.phase = Phase::visible;
    return;
  }
  message.visible_at = fact.visible_at;
  message.phase = Phase::in_flight;
}

void Model::on(const queue::ReceiveRepeated& fact) {
  for (std::size_t i = 0; i < fact.count; ++i) {
    ModelMessage& message = message_in(fact.queue, fact.keys[i], "received again");
    message.history.received_at = now_;
    message.visible_at = fact.visible_at;
    message.phase = fact.visible_at > now_ ? Phase::in_flight : Phase::visible;
  }
}

void Model::on(const queue::MessageDeadLettered& fact) {
  take_sequence(fact.sequence, "dead-lettered");
  const ModelQueue& from = queue_of(fact.from, "dead-lettered from");
  const ModelQueue& to = queue_of(fact.to, "dead-lettered to");
  ModelMessage& message = message_in(fact.from, fact.key, "dead-lettered");
  queue::History& history = message.history;
  require(fact.why != queue::DeadLetterReason::reported || message.phase == Phase::in_flight,
          "only who holds a message gives it up",
          "message {}",
          number(fact.key));
  end_attempt(history, queue::AttemptEnd::visibility_expired, message.visible_at);
  settle(message, &queue::TaskCounts::failed_again);
  count_failed(queues_.at(fact.from).codes, history);
  history.group = queue::FailureGroupKey::none;
  add_event(history, {.wall = wall_, .from = from.arn, .why = fact.why});
  history.entered_generation = message.generation();
  history.retries = {};
  history.dead_letter_source = from.arn;
  if (history.origin == NameIndex::none) history.origin = from.arn;
  history.sequence = message.order = fact.sequence;
  if (to.settings.is_fifo()) {
    message.sent_at = now_;
    history.sent_wall = wall_;
    history.dedup_is_message_id = true;
  }
  message.queue = fact.to;
  message.phase = Phase::visible;
  message.visibility_touched = false;
}

// Moves by tasks: from the task's source, only visible messages, to the right destination, and no
// more than planned.
void Model::check_redrive(const queue::MessageRedriven& fact) {
  if (fact.task == TaskKey::none && is_policy(fact.actor)) return check_policy_redrive(fact);
  if (fact.task == TaskKey::none) {
    require(fact.key == edited_ || is_holder(fact.actor),
            "who edits or holds it may redrive",
            "message {}",
            number(fact.key));
    message_in(fact.from, fact.key, "redriven");
    queue_of(fact.to, "redriven to");
    return;
  }
  const auto task = tasks_.find(fact.task);
  require(task != tasks_.end() && task->second.status == TaskStatus::running &&
              task->second.source == fact.from,
          "only running tasks move messages, and only from their source",
          "task {}",
          number(fact.task));
  require(task->second.counts.moved < task->second.to_move,
          "a task moves no more than it set out to",
          "task {}",
          number(fact.task));
  const ModelMessage& message = message_in(fact.from, fact.key, "redriven");
  require(message.phase == Phase::visible,
          "move tasks never touch messages in flight",
          "message {}",
          number(fact.key));
  check_plan(fact.task, task->second, message);
  const std::string& destination = task->second.destination_arn.empty()
                                       ? names_[number(message.history.dead_letter_source)]
                                       : task->second.destination_arn;
  require(destination == queue_of(fact.to, "redriven to").identity.arn(),
          "a redrive goes where it should",
          "message {} should go to {}",
          number(fact.key),
          destination);
}

void Model::on(const queue::MessageRedriven& fact) {
  take_sequence(fact.sequence, "redriven");
  check_redrive(fact);
  ModelMessage& message = messages_.at(fact.key);
  queue::History& history = message.history;
  settle(message, &queue::TaskCounts::gone);
  if (fact.task != TaskKey::none) {
    ++tasks_.at(fact.task).counts.moved;
    tasks_.at(fact.task).watched = now_;
  }
  history.job = fact.task;
  history.former_group = std::exchange(history.group, queue::FailureGroupKey::none);
  add_event(history,
            {.wall = wall_,
             .from = queues_.at(fact.from).arn,
             .actor = fact.actor,
             .reason = fact.reason,
             .job = fact.task,
             .kind = queue::LineageEvent::Kind::redriven});
  const bool held = message.phase == Phase::in_flight && message.visible_at > now_;
  require(
      !held || is_holder(fact.actor), "only its holder moves it", "message {}", number(fact.key));
  held ? end_attempt(history, queue::AttemptEnd::released, now_)
       : end_attempt(history, queue::AttemptEnd::visibility_expired, message.visible_at);
  history.prior_receives += message.receive_count;
  history.entered_generation = history.prior_receives;
  history.retries = {};
  history.first_received_wall = Timestamp();
  history.dead_letter_source = NameIndex::none;
  if (history.origin == NameIndex::none) history.origin = queues_.at(fact.from).arn;
  history.sequence = message.order = fact.sequence;
  history.message_id = fact.message_id;
  history.dedup_is_message_id = queues_.at(fact.to).settings.is_fifo();
  history.sent_wall = wall_;
  ++history.redrives;
  message.receive_count = 0;
  message.sent_at = now_;
  message.queue = fact.to;
  message.phase = fact.visible_at ? Phase::delayed : Phase::visible;
  if (fact.visible_at) message.visible_at = *fact.visible_at;
  message.visibility_touched = false;
}

}  // namespace redrive::sim
