// Applies facts about messages.

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include "core/queue/state.h"

namespace redrive::queue {

void State::on(const MessageSent& fact, const Stamp& stamp) {
  last_key_ = std::max(last_key_, fact.key);
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  const Slot slot = messages_.insert(fact.key);
  Message& message = messages_[slot];
  message.body = fact.body;
  message.lineage_mark = lineage_mark_of(fact.message_id);
  message.sent_at = stamp.now;
  message.visible_at = fact.visible_at;
  message.phase = fact.visible_at > stamp.now ? Phase::delayed : Phase::visible;
  mailbox(*queue).enter(slot, fact.group);
  note_expiry(*queue, stamp.now);
  ledger_.hold(fact.body);
  if (!queue->settings.fifo) return;
  const bool by_group = queue->settings.fifo->dedup_scope_at_birth == DedupScope::message_group;
  queue->dedup.insert(dedup_id(by_group ? fact.group : std::string_view(), fact.dedup),
                      {.expires = stamp.now + kDedupWindow,
                       .message_id = fact.message_id,
                       .sequence = number(fact.key)});
}

void State::on(const MessagesReceived& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  messages_.prefetch_messages(std::span(fact.keys).first(fact.count));
  for (std::size_t i = 0; i < fact.count; ++i) receive_one(*queue, fact.keys[i], fact, stamp);
  if (fact.attempt_id.empty()) return;
  ReceiveAttempt attempt{.expires = stamp.now + kReceiveAttemptWindow, .messages = {}};
  for (std::size_t i = 0; i < fact.count; ++i) {
    const Slot slot = find_message(*queue, fact.keys[i]);
    if (slot != kNoSlot) attempt.messages.emplace_back(fact.keys[i], generation(slot));
  }
  forget_attempts(*queue, stamp.now);
  queue->attempts_by_age.emplace_back(attempt.expires, fact.attempt_id);
  queue->receive_attempts.insert_or_assign(std::string(fact.attempt_id), std::move(attempt));
}

// A few at a time: more than arrive, so that none stays long.
void State::forget_attempts(Queue& queue, Timestamp now) {
  auto& order = queue.attempts_by_age;
  for (int i = 0; i < 16 && !order.empty() && order.front().first <= now; ++i) {
    const auto found = queue.receive_attempts.find(order.front().second);
    // An id that was used again has a newer attempt.
    if (found != queue.receive_attempts.end() && found->second.expires <= now) {
      queue.receive_attempts.erase(found);
    }
    order.pop_front();
    ++work_;
  }
}

void State::receive_one(const Queue& queue, MessageKey key, const MessagesReceived& fact,
                        const Stamp& stamp) {
  const Slot slot = expect_message(queue, key);
  if (slot == kNoSlot) return;
  Message& message = messages_[slot];
  History& history = messages_.history(slot);
  history.end_attempt(AttemptEnd::visibility_expired, message.visible_at);
  if (message.receive_count == 0 || history.first_received_wall == Timestamp()) {
    history.first_received_wall = stamp.wall;
  }
  history.received_at = stamp.now;
  const Isolation isolation = fact.isolated ? Isolation::on : Isolation::off;
  errors_.let_go(history.add({.received_wall = stamp.wall, .by = fact.by, .isolation = isolation}),
                 loading_);
  ++message.receive_count;
  message.visibility_touched = false;
  // It was visible then, though memory may not have followed: nothing advances while a checkpoint
  // is loaded.
  mailbox(queue).reveal(slot);
  mailbox(queue).deliver(slot, fact.visible_at);
}

void State::on(const MessageDeleted& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  const Slot slot = expect_message(*queue, fact.key);
  if (slot == kNoSlot) return;
  count_processed(*queue, slot, stamp);
  remove(mailbox(*queue), slot, Outcome::succeeded);
}

void State::on(const VisibilityChanged& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  const Slot slot = expect_message(*queue, fact.key);
  if (slot == kNoSlot) return;
  History& history = messages_.history(slot);
  if (fact.visible_at <= stamp.now || fact.not_run) {
    history.end_attempt(AttemptEnd::released, stamp.now);
  }
  if (fact.not_run && !history.attempts.empty()) {
    history.attempts.back().isolation = Isolation::not_run;
  }
  messages_[slot].visibility_touched = true;
  mailbox(*queue).set_visible_at(slot, fact.visible_at, stamp.now);
}

void State::on(const ReceiveRepeated& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  advance(*queue, stamp.now);
  for (std::size_t i = 0; i < fact.count; ++i) {
    const Slot slot = expect_message(*queue, fact.keys[i]);
    if (slot == kNoSlot) continue;
    messages_.history(slot).received_at = stamp.now;
    mailbox(*queue).set_visible_at(slot, fact.visible_at, stamp.now);
  }
}

void State::enter_anew(Slot slot, const Queue& from, Queue& to, std::string group,
                       std::optional<Timestamp> delayed_until) {
  Message& message = messages_[slot];
  History& history = messages_.history(slot);
  if (history.origin == NameIndex::none) history.origin = from.arn;
  history.retries = {};
  message.phase = delayed_until ? Phase::delayed : Phase::visible;
  if (delayed_until) message.visible_at = *delayed_until;
  message.visibility_touched = false;
  mailbox(to).enter(slot, group);
  note_expiry(to, message.sent_at);
}

void State::on(const MessageDeadLettered& fact, const Stamp& stamp) {
  last_key_ = std::max(last_key_, static_cast<MessageKey>(fact.sequence));
  Queue* from = expect_queue(fact.from);
  Queue* to = expect_queue(fact.to);
  if (to == nullptr) return drop_loaded(from, fact.key);
  if (from == nullptr) return;
  advance(*from, stamp.now);
  advance(*to, stamp.now);
  const Slot slot = expect_message(*from, fact.key);
  if (slot == kNoSlot) return;
  std::string group(mailbox(*from).group_name(slot));
  mailbox(*from).leave(slot);
  leave_group(slot);
  settle_job(slot, Outcome::failed_again);
  ++from->traffic.dead_lettered_away;
  ++to->traffic.dead_lettered;
  Message& message = messages_[slot];
  History& history = messages_.history(slot);
  history.end_attempt(AttemptEnd::visibility_expired, message.visible_at);
  count_failed(from->codes, history, stamp);
  history.add({.wall = stamp.wall, .from = from->arn, .why = fact.why});
  if (history.redrives > 0) ++to->traffic.failed_again;
  if (!loading_) ungrouped_.push_back(fact.key);
  history.entered_generation = history.prior_receives + message.receive_count;
  history.dead_letter_source = from->arn;
  history.sequence = fact.sequence;
  if (to->settings.is_fifo()) {  // A FIFO queue counts retention from the move, a standard one from
                                 // the first send.
    message.sent_at = stamp.now;
    history.sent_wall = stamp.wall;
    history.dedup_is_message_id = true;
  }
  enter_anew(slot, *from, *to, std::move(group));
}

void State::on(const MessageRedriven& fact, const Stamp& stamp) {
  last_key_ = std::max(last_key_, static_cast<MessageKey>(fact.sequence));
  MoveTask* const task = tasks_.find(fact.task);
  if (task != nullptr) ++task->counts.moved;
  Queue* from = expect_queue(fact.from);
  Queue* to = expect_queue(fact.to);
  if (to == nullptr) return drop_loaded(from, fact.key);
  if (from == nullptr) return;
  advance(*from, stamp.now);
  advance(*to, stamp.now);
  const Slot slot = expect_message(*from, fact.key);
  if (slot == kNoSlot) {  // Its outcome will never be known.
    if (task != nullptr) ++task->counts.gone;
    return;
  }
  std::string group(mailbox(*from).group_name(slot));
  mailbox(*from).leave(slot);
  settle_job(slot, Outcome::gone);
  ++from->traffic.redriven;
  const FailureGroupKey failure_group = messages_.history(slot).group;
  leave_group(slot);
  Message& message = messages_[slot];
  History& history = messages_.history(slot);
  end_delivery(slot, stamp.now);
  history.former_group = failure_group;
  history.job = fact.task;
  history.add({.wall = stamp.wall,
               .from = from->arn,
               .actor = fact.actor,
               .reason = fact.reason,
               .job = fact.task,
               .kind = LineageEvent::Kind::redriven});
  history.prior_receives += message.receive_count;
  history.entered_generation = history.prior_receives;
  history.first_received_wall = Timestamp();
  history.dead_letter_source = NameIndex::none;
  history.sequence = fact.sequence;
  history.message_id = fact.message_id;
  history.dedup_is_message_id = to->settings.is_fifo();
  history.sent_wall = stamp.wall;
  ++history.redrives;
  message.receive_count = 0;
  message.sent_at = stamp.now;
  const bool delayed = fact.visible_at && *fact.visible_at > stamp.now;
  // Its delay is its own: it must not be among those that get the queue's.
  if (delayed && mailbox(*to).is_redelaying()) advance_fully(*to, stamp.now);
  enter_anew(slot, *from, *to, std::move(group), delayed ? fact.visible_at : std::nullopt);
}

// A consumer that moves a message it holds releases it that way.
void State::end_delivery(Slot slot, Timestamp now) {
  const Message& message = messages_[slot];
  const bool held = message.phase == Phase::in_flight && message.visible_at > now;
  held ? messages_.history(slot).end_attempt(AttemptEnd::released, now)
       : messages_.history(slot).end_attempt(AttemptEnd::visibility_expired, message.visible_at);
}

void State::on(const MessageRelocated& fact, const Stamp&) {
  const Slot slot = messages_.find(fact.key);
  if (slot == kNoSlot) return;  // Deleted while it was being copied, or not loaded yet.
  ledger_.let_go(messages_[slot].body);
  messages_[slot].body = fact.body;
  ledger_.hold(fact.body);
}

void State::on(const CheckpointBegun& fact, const Stamp&) {
  if (last_key_ != MessageKey::none || !queues_.empty() || started_)
    return;  // Running, or replaying past one.
  loading_ = true;
  outcomes_counted_ = !fact.jobs_first;
  started_ = true;
  secret_ = fact.secret;
  last_key_ = fact.last_key;
  last_queue_ = fact.last_queue;
  last_task_ = fact.last_task;
  last_group_ = fact.last_group;
  errors_.note_last(fact.last_error);
}

void State::on(const QueueSnapshot& fact, const Stamp&) {
  if (!loading_) return;
  // A queue created while the checkpoint was written is known from its own fact.
  Queue* const known = find(fact.created.queue);
  Queue& queue = known != nullptr ? *known : add_queue(fact.created);
  set_settings(queue, fact.created.settings);
  queue.tags = fact.created.tags;
  queue.created_wall = fact.created_wall;
  queue.modified_wall = fact.modified_wall;
  queue.purged_at = fact.purged_at;
}

// A message that moved to a queue whose snapshot comes later is contained after that snapshot if it
// still exists; it must not stay here.
void State::drop_loaded(Queue* from, MessageKey key) {
  const Slot slot = loading_ && from != nullptr ? find_message(*from, key) : kNoSlot;
  if (slot == kNoSlot) return;
  mailbox(*from).leave(slot);
  forget(slot);
}

Slot State::load(MessageKey key) {
  if (const Slot old = messages_.find(key); old != kNoSlot) {
    // Sent after the checkpoint began; the checkpoint has the newer state.
    mailboxes_[messages_[old].mailbox]->leave(old);
    forget(old);
  }
  return messages_.insert(key);
}

void State::on(const WaitingSnapshot& fact, const Stamp&) {
  if (!loading_) return;
  const Queue* queue = nullptr;
  for (const WaitingMessage& waiting : fact.messages) {
    if (queue == nullptr || queue->key != waiting.queue) queue = expect_queue(waiting.queue);
    if (queue == nullptr) continue;
    const Slot slot = load(waiting.key);
    Message& message = messages_[slot];
    message.body = waiting.body;
    message.sent_at = waiting.sent_at;
    message.visible_at = waiting.visible_at;
    message.lineage_mark = waiting.lineage_mark;
    mailbox(*queue).enter(slot, {});
    ledger_.hold(waiting.body);
  }
}

void State::on(const MessageSnapshot& fact, const Stamp&) {
  if (!loading_) return;
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  const Slot slot = load(fact.key);
  Message& message = messages_[slot];
  message.body = fact.body;
  message.sent_at = fact.sent_at;
  message.visible_at = fact.visible_at;
  message.receive_count = fact.receive_count;
  message.phase = static_cast<Phase>(fact.phase);
  message.visibility_touched = fact.visibility_touched;
  message.lineage_mark = fact.lineage_mark;
  if (fact.restored) {
    messages_.history(slot) = *fact.restored;
    hold_errors(*fact.restored);
  }
  mailbox(*queue).enter(slot, fact.group);
  ledger_.hold(fact.body);
}

void State::on(const DedupSnapshot& fact, const Stamp&) {
  if (!loading_) return;
  if (Queue* queue = expect_queue(fact.queue)) {
    queue->dedup.insert(fact.id, {fact.expires, fact.message_id, fact.sequence});
  }
}

void State::on(const AttemptSnapshot& fact, const Stamp&) {
  if (!loading_) return;
  if (Queue* queue = expect_queue(fact.queue)) {
    queue->receive_attempts.insert_or_assign(std::string(fact.attempt_id),
                                             ReceiveAttempt{fact.expires, fact.messages});
  }
}

void State::on(const CheckpointMessagesEnded&, const Stamp& stamp) {
  if (!loading_) return;
  finish_messages(stamp);
  counted_to_ = QueueKey::none;
}

void State::on(const CheckpointCounted& fact, const Stamp&) {
  if (!counted_to_) return;
  for (QueueKey key = next_counting(*counted_to_);
       key != QueueKey::none && number(key) <= number(fact.queue);
       key = next_counting(key)) {
    if (const Queue* queue = find(key)) count_members(*queue);
  }
  counted_to_ = fact.queue;
}

// Earlier versions wrote jobs and groups right before the end, without a fact that announces them.
void State::on(const CheckpointEnded&, const Stamp& stamp) {
  if (loading_) {
    count_groups();
    finish_messages(stamp);
  } else if (std::exchange(counted_to_, std::nullopt)) {
    list_ungrouped();
  }
}

void State::finish_messages(const Stamp& stamp) {
  std::vector<std::vector<Slot>> members(mailboxes_.size());
  for (Slot slot = 0; slot < messages_.end(); ++slot) {
    if (messages_[slot].key != MessageKey::none) members[messages_[slot].mailbox].push_back(slot);
  }
  for (std::size_t i = 0; i < mailboxes_.size(); ++i) {
    mailboxes_[i]->finish_loading(members[i], [this](Slot slot) { return order_of(slot); });
    if (mailboxes_[i]->owner() == QueueKey::none) graves_.push_back(static_cast<std::uint32_t>(i));
    members[i] = {};
  }
  errors_.forget_unheld();
  loading_ = false;
  // Snapshots of jobs include the outcomes of messages that were purged or had expired by then.
  const bool counted = std::exchange(outcomes_counted_, true);
  while (bury(SIZE_MAX)) {
  }
  outcomes_counted_ = counted;
  for (auto& [identity, queue] : queues_) {
    queue->dedup.sort();
    queue->attempts_by_age.clear();
    for (const auto& [id, attempt] : queue->receive_attempts) {
      queue->attempts_by_age.emplace_back(attempt.expires, id);
    }
    std::ranges::sort(queue->attempts_by_age);
    reschedule_expiry(*queue);
    advance_fully(*queue, stamp.now);
  }
  outcomes_counted_ = false;
}

}  // namespace redrive::queue
