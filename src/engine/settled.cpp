// Messages that were processed after a redrive, kept for a while so that they can be found.

#include <algorithm>

#include "engine/engine.h"

namespace redrive::engine {
namespace {

using queue::Change;

// Removed from one queue before the next one is looked at.
constexpr std::size_t kTrimmedAtOnce = 64;

queue::QueueSettings settled_settings(std::chrono::seconds retention) {
  queue::QueueSettings settings;
  settings.retention = retention;
  return settings;
}

// Whether the message died and was redriven before. One that is in a dead-letter queue again has
// not been processed: deleting it there does not settle it.
bool was_redriven(const queue::State& state, queue::Slot slot) {
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr || history->redrives == 0) return false;
  if (history->dead_letter_source != queue::NameIndex::none) return false;
  return std::ranges::any_of(history->events, [](const queue::LineageEvent& event) {
    return event.kind == queue::LineageEvent::Kind::dead_lettered;
  });
}

}  // namespace

queue::Queue& Turn::settled(const queue::QueueIdentity& identity, std::chrono::seconds retention) {
  const queue::QueueIdentity hidden = settled_of(identity);
  if (queue::Queue* found = store_.state().find(hidden)) {
    advance(*found);
    if (found->settings.retention != retention) {
      commit(queue::QueueSettingsChanged{found->key, settled_settings(retention)});
    }
    return *found;
  }
  std::vector<Change> changes;
  const std::string arn = hidden.arn();
  const queue::NameIndex name = this->name(arn, changes);
  changes.push_back(queue::QueueCreated{
      next(state().last_queue()), name, hidden, settled_settings(retention), {}});
  commit(changes);
  return *store_.state().find(hidden);
}

Change Engine::deletion_of(Turn& turn, const queue::Queue& queue,
                           const queue::MessageDeleted& deleted, std::uint64_t& sequence) {
  const queue::Slot slot = turn.state().find_message(queue, deleted.key);
  if (slot == queue::kNoSlot || !was_redriven(turn.state(), slot)) return deleted;
  // A full disk needs the room for messages that are still to be processed.
  if (!settled_.keep_any() || queue.identity.is_hidden() || !journal_.has_room()) return deleted;
  const queue::Queue& to = turn.settled(queue.identity, settled_.retention);
  trim_settled_ = true;
  return queue::MessageSettled{
      .key = deleted.key, .from = queue.key, .to = to.key, .sequence = ++sequence};
}

// Removes settled messages that are more than are kept, from the queue that has the oldest one; all
// of them when the disk is full. True while there are more.
bool Engine::trim_settled(Turn& turn) {
  const bool full = !journal_.has_room();
  if (!trim_settled_ && !full) return false;
  const std::size_t kept_max = full || !settled_.keep_any() ? 0 : settled_.messages_max;
  const std::size_t count = turn.state().settled_messages();
  if (count <= kept_max) {
    trim_settled_ = false;
    return false;
  }
  queue::Queue* oldest = nullptr;
  Timestamp sent_at = kNever;
  for (const auto& [identity, queue] : turn.state().settled_queues()) {
    const queue::Slot slot = turn.state().mailbox(*queue).oldest();
    if (slot == queue::kNoSlot || turn.state().messages()[slot].sent_at >= sent_at) continue;
    sent_at = turn.state().messages()[slot].sent_at;
    oldest = queue;
  }
  if (oldest == nullptr) return false;
  turn.advance(*oldest);
  if (oldest->is_behind()) return true;
  std::vector<Change> changes;
  const std::size_t excess = std::min(count - kept_max, kTrimmedAtOnce);
  for (const queue::Slot slot : turn.state().mailbox(*oldest).page({}, excess)) {
    changes.push_back(queue::MessageDeleted{oldest->key, turn.state().messages()[slot].key});
  }
  if (!changes.empty()) turn.commit(changes);
  return true;
}

PeekPage Engine::peek_any(const queue::QueueIdentity& identity,
                          const queue::Mailbox::AgeMark& after, std::size_t max) {
  return turn([&](Turn& turn) {
    queue::Queue* const queue = store_.state().find(identity);
    if (queue == nullptr) {
      return PeekPage{.messages = {}, .pins = BodyPins(store_), .wall = turn.stamp().wall};
    }
    turn.advance(*queue);
    return look_at_page(*queue, after, max, turn.stamp());
  });
}

PeekPage Engine::peek_key(queue::MessageKey key) {
  return turn([&](Turn& turn) {
    PeekPage nothing{.messages = {}, .pins = BodyPins(store_), .wall = turn.stamp().wall};
    const queue::State& state = turn.state();
    const queue::Slot before = state.messages().find(key);
    if (before == queue::kNoSlot || state.is_buried(before)) return nothing;
    queue::Queue& queue = *store_.state().find(state.queue_of(before));
    turn.advance(queue);
    const queue::Slot slot = state.find_message(queue, key);
    if (slot == queue::kNoSlot) return nothing;
    return look_at(queue, std::span(&slot, 1), turn.stamp());
  });
}

}  // namespace redrive::engine
