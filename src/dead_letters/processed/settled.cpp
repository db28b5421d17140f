#include "dead_letters/processed/settled.h"

#include <algorithm>

#include "core/queue/hidden_queues.h"

namespace redrive::dead_letters {
namespace {

using engine::Turn;
using queue::Change;

// Removed from one queue before the next one is looked at.
constexpr std::size_t kTrimmedAtOnce = 64;

// Whether a redriven message had died before. One that is in a dead-letter queue again has not been
// processed: deleting it there does not settle it.
bool is_settled(const queue::State& state, queue::Slot slot) {
  const queue::History& history = *state.messages().history_if(slot);
  if (history.dead_letter_source != queue::NameIndex::none) return false;
  return std::ranges::any_of(history.events, [](const queue::LineageEvent& event) {
    return event.kind == queue::LineageEvent::Kind::dead_lettered;
  });
}

}  // namespace

queue::Queue& Settled::settled_for(Turn& turn, const queue::QueueIdentity& identity) const {
  queue::QueueSettings settings;
  settings.retention = limits_.retention;
  queue::Queue& queue = turn.hidden_queue(queue::settled_of(identity), settings);
  if (queue.settings.retention != limits_.retention) {
    turn.commit(queue::QueueSettingsChanged{queue.key, settings});
  }
  return queue;
}

void Settled::redriven_deleted(Turn& turn, const queue::Queue& queue,
                               const queue::Deletion& deletion, std::uint64_t& sequence,
                               Change& fact) {
  if (!is_settled(turn.state(), deletion.slot)) return;
  // A full disk needs the room for messages that are still to be processed.
  if (!limits_.keep_any() || queue.identity.is_hidden() || !engine_.journal().has_room()) return;
  const queue::Queue& to = settled_for(turn, queue.identity);
  trim_ = true;
  fact = queue::MessageSettled{
      .key = deletion.fact.key, .from = queue.key, .to = to.key, .sequence = ++sequence};
}

// From the queue whose messages expire next; all of them when the disk is full.
bool Settled::tidy(Turn& turn) {
  const bool full = !engine_.journal().has_room();
  if (!trim_ && !full) return false;
  const std::size_t kept_max = full || !limits_.keep_any() ? 0 : limits_.messages_max;
  const std::size_t count = turn.state().settled_messages();
  if (count <= kept_max) {
    trim_ = false;
    return false;
  }
  queue::Queue* const oldest = turn.store().state().next_expiring_settled();
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

}  // namespace redrive::dead_letters
