#include "core/engine/turn.h"

#include <algorithm>

#include "core/engine/next_arrival.h"

namespace redrive::engine {
namespace {

using queue::Change;
using queue::Queue;
using queue::QueueIdentity;

// The names of consumers are kept for the history of attempts; beyond this many, new ones are
// "unknown".
constexpr std::size_t kNamesMax = 1'000'000;

std::unexpected<Error> unknown_queue() {
  return fail(ErrorCode::queue_does_not_exist, "The specified queue does not exist.");
}

}  // namespace

Result<Queue*> Turn::queue(const QueueIdentity& identity) {
  Queue* found = store_.state().find(identity);
  if (found == nullptr || (identity.is_hidden() && !identity.of_ours)) return unknown_queue();
  return use(*found);
}

Result<Queue*> Turn::queue(queue::QueueKey key) {
  Queue* found = store_.state().find(key);
  if (found == nullptr) return unknown_queue();
  return use(*found);
}

Queue* Turn::use(Queue& queue) {
  queue.traffic.active_at = stamp_.now;
  advance(queue);
  return &queue;
}

// Marks the queue as touched if messages became visible, so that its waiting receives are served in
// this turn: the next tick would find nothing to do.
void Turn::advance(Queue& queue) {
  const bool redelays = state().mailbox(queue).is_redelaying();
  if (redelays || next_arrival(state(), queue) <= stamp_.now) touched_.push_back(queue.key);
  store_.state().advance(queue, stamp_.now);
}

void Turn::commit(std::span<Change> changes) {
  for (const Change& change : changes) {
    if (notices_ == nullptr || !may_be_notable(change)) continue;
    if (auto notice = notice_of(state(), change)) notices_->push_back(*std::move(notice));
  }
  store_.commit(stamp_, changes);
  for (const Change& change : changes) note(change);
}

// Collects queues in which a waiting receive may now find a message.
void Turn::note(const Change& change) {
  if (const auto* sent = change.as<queue::MessageSent>()) {
    if (touched_.empty() || touched_.back() != sent->queue) touched_.push_back(sent->queue);
  } else if (const auto* received = change.as<queue::MessagesReceived>()) {
    if (received->visible_at <= stamp_.now) touched_.push_back(received->queue);
  } else if (const auto* repeated = change.as<queue::ReceiveRepeated>()) {
    touched_.push_back(repeated->queue);  // The new timeout may end sooner than the old one.
  } else if (const auto* removed = change.as<queue::MessageDeleted>()) {
    if (touched_.empty() || touched_.back() != removed->queue) touched_.push_back(removed->queue);
  } else if (const auto* changed = change.as<queue::VisibilityChanged>()) {
    touched_.push_back(changed->queue);
  } else if (const auto* archived = change.as<queue::MessageArchived>()) {
    touched_.push_back(archived->queue);
  } else if (const auto* failed = change.as<queue::FailureReported>()) {
    if (failed->visible_at) touched_.push_back(failed->queue);
  } else if (const auto* discarded = change.as<queue::MessageDiscarded>()) {
    touched_.push_back(discarded->from);
  } else if (const auto* settled = change.as<queue::MessageSettled>()) {
    touched_.push_back(settled->from);  // FIFO: those behind it can be received now.
  } else if (const auto* damaged = change.as<queue::MessageDamaged>()) {
    touched_.push_back(damaged->from);  // FIFO: those behind it can be received now.
  } else if (const auto* restored = change.as<queue::MessageRestored>()) {
    touched_.push_back(restored->to);
    noted_.dead_letters.emplace_back(restored->to, restored->key);
  } else if (const auto* dead = change.as<queue::MessageDeadLettered>()) {
    // Of a FIFO queue, those behind it in its group can be received now.
    touched_.insert(touched_.end(), {dead->from, dead->to});
    noted_.dead_letters.emplace_back(dead->to, dead->key);
  } else if (const auto* redriven = change.as<queue::MessageRedriven>()) {
    touched_.insert(touched_.end(), {redriven->from, redriven->to});
  } else if (const auto* settings = change.as<queue::QueueSettingsChanged>()) {
    touched_.push_back(settings->queue);
    noted_.queues.push_back(settings->queue);
    queues_changed_ = true;
  } else if (const auto* gone = change.as<queue::QueueDeleted>()) {
    touched_.push_back(gone->queue);
    noted_.queues.push_back(gone->queue);
    queues_changed_ = true;
  } else if (change.is<queue::ServerReset>()) {
    queues_changed_ = true;
  } else if (const auto* started = change.as<queue::MoveTaskStarted>()) {
    noted_.tasks.push_back(started->task);
  } else if (const auto* task = change.as<queue::MoveTaskChanged>()) {
    noted_.tasks.push_back(task->task);
  }
}

queue::NameIndex Turn::name(std::string_view text, std::vector<Change>& changes) {
  if (text.empty()) return queue::NameIndex::none;
  if (const auto known = state().find_name(text); known != queue::NameIndex::none) return known;
  std::size_t index = state().names().size();
  for (const Change& change : changes) {
    const auto* learned = change.as<queue::NameLearned>();
    if (learned == nullptr) continue;
    if (learned->text == text) return learned->index;
    ++index;
  }
  if (index >= kNamesMax) return queue::NameIndex::none;
  const auto fresh = static_cast<queue::NameIndex>(index);
  changes.push_back(queue::NameLearned{fresh, text});
  return fresh;
}

ActorNames Turn::names(const Actor& by, std::vector<Change>& changes) {
  const queue::NameIndex actor = name(by.name, changes);
  return {.actor = actor, .reason = name(by.reason, changes)};
}

Queue& Turn::hidden_queue(const QueueIdentity& identity, const queue::QueueSettings& settings) {
  if (Queue* found = find(identity)) {
    advance(*found);
    return *found;
  }
  std::vector<Change> changes;
  const std::string arn = identity.arn();
  const queue::NameIndex name = this->name(arn, changes);
  changes.push_back(queue::QueueCreated{next(state().last_queue()), name, identity, settings, {}});
  commit(changes);
  return *find(identity);
}

}  // namespace redrive::engine
