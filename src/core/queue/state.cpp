#include "core/queue/state.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/prefetch.h"
#include "base/text.h"

namespace redrive::queue {

State::State(BodyLedger& ledger) : ledger_(ledger), names_(1) {}

void State::apply(const Change& change, const Stamp& stamp) {
  ++work_;
  change.visit([&](const auto& fact) { on(fact, stamp); });
}

void State::advance(Queue& queue, Timestamp now) {
  if (loading_) return;
  Mailbox& box = mailbox(queue);
  const Timestamp limit = now - queue.settings.retention;
  if (box.oldest_until(limit) != kNoSlot) expire(queue, limit);
  if (box.is_redelaying()) redelay(queue, now);
  const std::size_t shown = box.advance(now, steps_left_);
  steps_left_ -= shown;
  work_ += shown;
  if (box.is_fifo()) {
    const std::size_t forgotten = queue.dedup.advance(now, steps_left_);
    steps_left_ -= forgotten;
    work_ += forgotten;
  }
}

void State::expire(Queue& queue, Timestamp limit) {
  Mailbox& box = mailbox(queue);
  Slot slot = box.oldest_until(limit);
  for (; slot != kNoSlot && steps_left_ > 0; slot = box.oldest_until(limit)) {
    remove(box, slot, Outcome::gone);
    ++queue.traffic.expired;
    ++work_;
    --steps_left_;
  }
  queue.behind_to = slot == kNoSlot ? Timestamp() : limit;
  reschedule_expiry(queue);
}

// Applies a changed delay to some of the messages that were delayed before.
void State::redelay(Queue& queue, Timestamp now) {
  Mailbox& box = mailbox(queue);
  while (box.is_redelaying() && steps_left_ > 0) {
    const std::size_t looked_at = box.redelay(now, steps_left_);
    steps_left_ -= looked_at;
    work_ += looked_at;
  }
  if (!box.is_redelaying()) redelayed_.erase(queue.key);
}

Queue* State::next_redelayed() {
  return redelayed_.empty() ? nullptr : find(*redelayed_.begin());
}

void State::advance_fully(Queue& queue, Timestamp now) {
  const std::size_t granted = std::exchange(steps_left_, SIZE_MAX);
  advance(queue, now);
  steps_left_ = granted;
}

void State::schedule_expiry(Queue& queue, Timestamp at) {
  const bool settled = queue.identity.is_settled();
  if (queue.expiry_at != kNever) {
    expiries_.erase({queue.expiry_at, queue.key});
    if (settled) settled_expiries_.erase({queue.expiry_at, queue.key});
  }
  queue.expiry_at = at;
  if (at == kNever) return;
  expiries_.insert({at, queue.key});
  if (settled) settled_expiries_.insert({at, queue.key});
}

void State::reschedule_expiry(Queue& queue) {
  const Slot oldest = mailbox(queue).oldest();
  const Timestamp at =
      oldest == kNoSlot ? kNever : messages_[oldest].sent_at + queue.settings.retention;
  if (at != queue.expiry_at) schedule_expiry(queue, at);
}

Queue* State::next_expiring(Timestamp now) {
  while (!expiries_.empty() && expiries_.begin()->first <= now) {
    Queue* const queue = find(expiries_.begin()->second);
    reschedule_expiry(*queue);
    if (queue->expiry_at <= now) return queue;
  }
  return nullptr;
}

Queue* State::next_expiring_settled() {
  while (!settled_expiries_.empty()) {
    const Timestamp at = settled_expiries_.begin()->first;
    Queue* const queue = find(settled_expiries_.begin()->second);
    ++work_;
    reschedule_expiry(*queue);
    if (queue->expiry_at == at) return queue;
  }
  return nullptr;
}

void State::expire_all(Timestamp now) {
  while (Queue* const queue = next_expiring(now)) advance_fully(*queue, now);
}

void State::advance_loading(Queue& queue, Timestamp now) {
  Mailbox& box = mailbox(queue);
  for (const Slot slot : members(queue)) {
    if (messages_[slot].sent_at <= now - queue.settings.retention) {
      remove(box, slot, Outcome::gone);
    } else if (messages_[slot].visible_at <= now) {
      box.reveal(slot);
    }
  }
}

std::vector<Slot> State::members(const Queue& queue) const {
  std::vector<Slot> slots;
  for (Slot slot = 0; slot < messages_.end(); ++slot) {
    const Message& message = messages_[slot];
    if (message.key != MessageKey::none && message.mailbox == queue.mailbox) slots.push_back(slot);
  }
  return slots;
}

void State::advance_all(Timestamp now) {
  for (auto& [identity, queue] : queues_) advance_fully(*queue, now);
}

const Queue* State::find(const QueueIdentity& identity) const {
  const auto found = queues_by_name_.find(identity);
  return found == queues_by_name_.end() ? nullptr : found->second;
}

Queue* State::find(const QueueIdentity& identity) {
  return const_cast<Queue*>(std::as_const(*this).find(identity));
}

const Queue* State::find(QueueKey key) const {
  const auto found = queues_by_key_.find(key);
  return found == queues_by_key_.end() ? nullptr : found->second;
}

Queue* State::find(QueueKey key) {
  return const_cast<Queue*>(std::as_const(*this).find(key));
}

void State::prefetch_queues(std::span<Queue* const> queues) const {
  // In steps, because each needs what the previous one prefetched.
  for (const Queue* queue : queues) {
    if (queue == nullptr) continue;
    prefetch(&queue->settings.retention);
    prefetch(&queue->settings.fifo);
    prefetch(&queue->mailbox);
    prefetch(&queue->traffic);
    prefetch(&queue->traffic.active_at);
  }
  for (const Queue* queue : queues) {
    if (queue != nullptr) prefetch(&mailbox(*queue), sizeof(Mailbox));
  }
  for (const Queue* queue : queues) {
    if (queue != nullptr) mailbox(*queue).prefetch_ends();
  }
}

const Queue* State::find_by_arn(std::string_view arn) const {
  // arn:partition:sqs:region:account:name
  std::array<std::string_view, 6> parts;
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t colon = arn.find(':');
    if (colon == std::string_view::npos) return nullptr;
    parts[i] = arn.substr(0, colon);
    arn.remove_prefix(colon + 1);
  }
  parts[5] = arn;
  if (parts[0] != "arn" || parts[2] != "sqs") return nullptr;
  return find(QueueIdentity{std::string(parts[4]), std::string(parts[3]), std::string(parts[5])});
}

Queue* State::find_by_arn(std::string_view arn) {
  return const_cast<Queue*>(std::as_const(*this).find_by_arn(arn));
}

Slot State::find_message(const Queue& queue, MessageKey key) const {
  const Slot slot = messages_.find(key);
  if (slot == kNoSlot || messages_[slot].mailbox != queue.mailbox) return kNoSlot;
  return messages_[slot].sent_at > queue.behind_to ? slot : kNoSlot;
}

std::uint32_t State::generation(Slot slot) const {
  const History* history = messages_.history_if(slot);
  return (history == nullptr ? 0 : history->prior_receives) + messages_[slot].receive_count;
}

NameIndex State::find_name(std::string_view text) const {
  const auto found = name_index_.find(text);
  return found == name_index_.end() ? NameIndex::none : found->second;
}

std::optional<Timestamp> State::deleted_at(const QueueIdentity& identity, Timestamp now) const {
  const auto found = deleted_.find(identity);
  if (found == deleted_.end() || found->second + kRecreateInterval <= now) return std::nullopt;
  return found->second;
}

bool State::bury(std::size_t messages_max) {
  while (!graves_.empty() && messages_max > 0) {
    const std::uint32_t index = graves_.front();
    const Slot slot = mailboxes_[index]->take_any();
    if (slot == kNoSlot) {
      graves_.pop_front();
      remains_.mailboxes.push_back(std::move(mailboxes_[index]));
      free_mailboxes_.push_back(index);
      continue;
    }
    settle_job(slot, Outcome::gone);
    forget(slot);
    --messages_max;
    ++work_;
  }
  free_remains_of_replay();
  return !graves_.empty();
}

Queue* State::expect_queue(QueueKey key) {
  Queue* queue = find(key);
  if (queue == nullptr && !loading_) ++orphans_;
  return queue;
}

Slot State::expect_message(const Queue& queue, MessageKey key) {
  const Slot slot = find_message(queue, key);
  if (slot == kNoSlot && !loading_) ++orphans_;
  return slot;
}

void State::remove(Mailbox& box, Slot slot, Outcome outcome) {
  settle_job(slot, outcome);
  leave_group(slot);
  box.leave(slot);
  forget(slot);
}

void State::forget(Slot slot) {
  let_go_errors(slot);
  ledger_.let_go(messages_[slot].body);
  messages_.erase(slot);
}

std::uint64_t State::order_of(Slot slot) const {
  const History* history = messages_.history_if(slot);
  return history != nullptr && history->sequence != 0 ? history->sequence
                                                      : number(messages_[slot].key);
}

std::uint32_t State::open_mailbox(const Queue& queue) {
  std::uint32_t index = static_cast<std::uint32_t>(mailboxes_.size());
  if (free_mailboxes_.empty()) {
    mailboxes_.emplace_back();
  } else {
    index = free_mailboxes_.back();
    free_mailboxes_.pop_back();
  }
  const auto kind = queue.settings.is_fifo() ? Mailbox::Kind::fifo : Mailbox::Kind::standard;
  mailboxes_[index] = std::make_unique<Mailbox>(messages_, index, kind, queue.key);
  if (loading_) mailboxes_[index]->begin_loading();
  if (queue.identity.is_settled()) mailboxes_[index]->count_in(settled_messages_);
  return index;
}

void State::close_mailbox(std::uint32_t index) {
  mailboxes_[index]->disown();
  // While loading there are no lists to empty it with: finish_loading removes its messages.
  if (!loading_) graves_.push_back(index);
}

void State::on(const ServerStarted& fact, const Stamp&) {
  secret_ = fact.secret;
  started_ = true;
}

void State::on(const NameLearned& fact, const Stamp&) {
  // A checkpoint repeats known names, and contains names after newer ones that were added while it
  // was written. After a repair some may be missing.
  if (fact.index == NameIndex::none) return;
  if (number(fact.index) >= names_.size()) names_.resize(number(fact.index) + 1);
  if (!names_[number(fact.index)].empty()) return;
  names_[number(fact.index)] = fact.text;
  name_index_.emplace(fact.text, fact.index);
}

Queue& State::add_queue(const QueueCreated& created) {
  if (const Queue* former = find(created.identity))
    remove_queue(*former);  // Only where a repair lost its deletion.
  auto owned = std::make_unique<Queue>();
  Queue& queue = *owned;
  queue.key = created.queue;
  queue.arn = created.arn;
  queue.identity = created.identity;
  set_settings(queue, created.settings);
  queue.tags = created.tags;
  queue.mailbox = open_mailbox(queue);
  queues_by_key_[queue.key] = &queue;
  queues_by_name_[queue.identity] = &queue;
  if (queue.identity.is_damaged()) damaged_queues_[queue.identity] = &queue;
  if (queue.identity.is_settled()) settled_queues_[queue.identity] = &queue;
  queues_[created.identity] = std::move(owned);
  last_queue_ = std::max(last_queue_, created.queue);
  deleted_.erase(created.identity);
  return queue;
}

// Source queues are looked up more often than redrive policies change.
void State::note_source(const Queue& queue, bool is_source) {
  if (!queue.settings.redrive) return;
  const std::string& target = queue.settings.redrive->target_arn;
  if (is_source) {
    sources_[target].insert(queue.identity);
    return;
  }
  const auto found = sources_.find(target);
  if (found == sources_.end()) return;
  found->second.erase(queue.identity);
  if (found->second.empty()) sources_.erase(found);
}

const std::set<QueueIdentity>& State::sources_of(std::string_view arn) const {
  static const std::set<QueueIdentity> kNone;
  const auto found = sources_.find(arn);
  return found == sources_.end() ? kNone : found->second;
}

void State::set_settings(Queue& queue, const QueueSettings& settings) {
  note_source(queue, false);
  queue.settings = settings;
  note_source(queue, true);
  queue.published = std::make_shared<const QueueSettings>(settings);
}

void State::on(const QueueCreated& fact, const Stamp& stamp) {
  Queue& queue = add_queue(fact);
  queue.created_wall = queue.modified_wall = stamp.wall;
}

void State::on(const QueueSettingsChanged& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  loading_ ? advance_loading(*queue, stamp.now) : advance_fully(*queue, stamp.now);
  const bool delay_changed = queue->settings.delay != fact.settings.delay;
  set_settings(*queue, fact.settings);
  if (!loading_) reschedule_expiry(*queue);
  queue->modified_wall = stamp.wall;
  if (!delay_changed || !queue->settings.is_fifo()) return;
  // On FIFO queues a new delay also applies to waiting messages.
  Mailbox& box = mailbox(*queue);
  if (!loading_) {
    box.begin_redelay(queue->settings.delay, {stamp.now, last_key_});
    if (box.is_redelaying()) redelayed_.insert(queue->key);
    return redelay(*queue, stamp.now);
  }
  for (const Slot slot : members(*queue)) {
    const Message& message = messages_[slot];
    if (message.phase == Phase::delayed)
      box.set_delay_end(slot, message.sent_at + queue->settings.delay, stamp.now);
  }
}

void State::on(const QueueTagsChanged& fact, const Stamp&) {
  if (Queue* queue = expect_queue(fact.queue)) queue->tags = fact.tags;
}

void State::on(const QueueDeleted& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  note_deleted(queue->identity, stamp.now, stamp.now);
  remove_queue(*queue);
}

void State::on(const DeletedNameSnapshot& fact, const Stamp& stamp) {
  note_deleted(fact.identity, fact.deleted_at, stamp.now);
}

void State::note_deleted(const QueueIdentity& identity, Timestamp at, Timestamp now) {
  deleted_[identity] = at;
  deleted_by_age_.emplace_back(at, identity);
  forget_old_names(now);
}

// A few at a time: more than arrive, so that none stays long.
void State::forget_old_names(Timestamp now) {
  auto& order = deleted_by_age_;
  for (int i = 0; i < 4 && !order.empty(); ++i) {
    const auto& [at, identity] = order.front();
    if (at + kRecreateInterval > now) return;
    const auto found = deleted_.find(identity);
    // A name that was reused and deleted again has a newer entry.
    if (found != deleted_.end() && found->second == at) deleted_.erase(found);
    order.pop_front();
    ++work_;
  }
}

void State::remove_queue(const Queue& queue) {
  settle_all(queue);
  note_source(queue, false);
  forget_groups(queue.key);
  close_mailbox(queue.mailbox);
  if (queue.expiry_at != kNever) {
    expiries_.erase({queue.expiry_at, queue.key});
    settled_expiries_.erase({queue.expiry_at, queue.key});
  }
  redelayed_.erase(queue.key);
  tasks_.erase_of(queue.key);
  queues_by_key_.erase(queue.key);
  const QueueIdentity identity =
      queue.identity;  // Copied, because erasing the entry destroys the queue.
  queues_by_name_.erase(identity);
  damaged_queues_.erase(identity);
  settled_queues_.erase(identity);
  const auto owned = queues_.find(identity);
  remains_.queues.push_back(std::move(owned->second));
  queues_.erase(owned);
  free_remains_of_replay();
}

// A replay has no turns, so it need not be done in slices.
void State::free_remains_of_replay() {
  if (steps_left_ == SIZE_MAX) remains_ = {};
}

void State::on(const EntryPut& fact, const Stamp&) {
  // Documents are JSON. Earlier versions stored some that are not UTF-8 and therefore could not be
  // read, changed or removed.
  std::string value = is_utf8(fact.value) ? std::string(fact.value) : replace_invalid(fact.value);
  const bool fresh =
      entries_.insert_or_assign({fact.kind, std::string(fact.name)}, std::move(value)).second;
  if (fresh) ++entry_counts_[fact.kind];
  ++entries_version_;
}

void State::on(const EntryRemoved& fact, const Stamp&) {
  entry_counts_[fact.kind] -= entries_.erase({fact.kind, std::string(fact.name)});
  ++entries_version_;
}

std::size_t State::count_entries(EntryKind kind) const {
  const auto found = entry_counts_.find(kind);
  return found == entry_counts_.end() ? 0 : found->second;
}

const std::string* State::find_entry(EntryKind kind, const std::string& name) const {
  const auto found = entries_.find({kind, name});
  return found == entries_.end() ? nullptr : &found->second;
}

void State::on(const ServerReset&, const Stamp&) {
  while (!queues_.empty()) remove_queue(*queues_.begin()->second);
  tasks_.clear();
  remains_.deleted.push_back(std::exchange(deleted_, {}));
  deleted_by_age_.clear();
  deploys_.clear();
  entries_.clear();
  entry_counts_.clear();
  ++entries_version_;
  forget_archived();
}

void State::on(const QueuePurged& fact, const Stamp& stamp) {
  Queue* queue = expect_queue(fact.queue);
  if (queue == nullptr) return;
  settle_all(*queue);
  const auto [first, last] = group_range(queue->key);
  for (auto at = first; at != last; ++at) groups_.at(at->second).count = 0;
  close_mailbox(queue->mailbox);
  queue->mailbox = open_mailbox(*queue);
  redelayed_.erase(queue->key);
  remains_.dedups.push_back(queue->dedup.take());
  remains_.attempts.push_back(std::exchange(queue->receive_attempts, {}));
  remains_.attempts_by_age.push_back(std::exchange(queue->attempts_by_age, {}));
  queue->purged_at = stamp.now;
  queue->behind_to = Timestamp();
  schedule_expiry(*queue, kNever);
  free_remains_of_replay();
}

}  // namespace redrive::queue
