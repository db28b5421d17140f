// Dead letters put aside, taken back and corrected.

#include <algorithm>
#include <vector>

#include "engine/engine.h"
#include "engine/originals.h"

namespace redrive::engine {
namespace {

using queue::Change;
using queue::MessageKey;
using queue::QueueIdentity;

queue::QueueSettings bin_settings() {
  queue::QueueSettings settings;
  settings.retention = kBinRetention;
  return settings;
}

constexpr std::size_t kMovedPerTurn = 250;

// Each key once: a message is where it goes after the first.
std::vector<MessageKey> distinct(std::span<const MessageKey> keys) {
  std::vector<MessageKey> sorted(keys.begin(), keys.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::unique(sorted);
  sorted.erase(twice.begin(), twice.end());
  return sorted;
}

// A message that nobody holds, by its key; what a consumer has is not for others to touch.
queue::Slot find_free(const queue::State& state, const queue::Queue& queue, MessageKey key) {
  const queue::Slot slot = state.find_message(queue, key);
  const bool free =
      slot != queue::kNoSlot && state.messages()[slot].phase != queue::Phase::in_flight;
  return free ? slot : queue::kNoSlot;
}

}  // namespace

Result<queue::Queue*> Turn::bin(const QueueIdentity& identity) {
  TRY(queue(identity));
  queue::Queue* found = store_.state().find(bin_of(identity));
  if (found != nullptr) {
    advance(*found);
    return found;
  }
  std::vector<Change> changes;
  const QueueIdentity hidden = bin_of(identity);
  const std::string arn = hidden.arn();
  const queue::NameIndex name = this->name(arn, changes);
  changes.push_back(
      queue::QueueCreated{next(state().last_queue()), name, hidden, bin_settings(), {}});
  commit(changes);
  return store_.state().find(hidden);
}

// Calls `move(some of the keys)` until all have had their turn; how many it moved.
template <class MoveSome>
Result<std::size_t> Engine::in_portions(std::span<const MessageKey> keys, MoveSome move) {
  const std::vector<MessageKey> all = distinct(keys);
  std::size_t moved = 0;
  std::size_t at = 0;
  do {
    const std::size_t size = std::min(kMovedPerTurn, all.size() - at);
    moved += TRY(move(std::span(all).subspan(at, size)));
    at += size;
    if (at < all.size()) give_way();
  } while (at < all.size());
  return moved;
}

Result<std::size_t> Engine::discard(const QueueIdentity& identity, std::span<const MessageKey> keys,
                                    const Signature& by) {
  return in_portions(keys, [&](std::span<const MessageKey> some) {
    return turn([&](Turn& turn) -> Result<std::size_t> {
      const queue::Queue& bin = *TRY(turn.bin(identity));
      const queue::Queue& queue = *TRY(turn.queue(identity));
      std::vector<Change> changes;
      const queue::NameIndex actor = turn.name(by.actor, changes);
      const queue::NameIndex reason = turn.name(by.reason, changes);
      const std::size_t names = changes.size();
      std::uint64_t sequence = number(turn.state().last_key());
      for (const MessageKey key : some) {
        if (find_free(turn.state(), queue, key) == queue::kNoSlot) continue;
        changes.push_back(
            queue::MessageDiscarded{key, queue.key, bin.key, ++sequence, actor, reason});
      }
      if (changes.size() > names) turn.commit(changes);
      return changes.size() - names;
    });
  });
}

Result<std::size_t> Engine::restore(const QueueIdentity& identity, std::span<const MessageKey> keys,
                                    const Signature& by) {
  return in_portions(keys, [&](std::span<const MessageKey> some) {
    return turn([&](Turn& turn) -> Result<std::size_t> {
      const queue::Queue& bin = *TRY(turn.bin(identity));
      const queue::Queue& queue = *TRY(turn.queue(identity));
      std::vector<Change> changes;
      const queue::NameIndex actor = turn.name(by.actor, changes);
      const std::size_t names = changes.size();
      std::uint64_t sequence = number(turn.state().last_key());
      for (const MessageKey key : some) {
        if (find_free(turn.state(), bin, key) == queue::kNoSlot) continue;
        changes.push_back(queue::MessageRestored{key, bin.key, queue.key, ++sequence, actor});
      }
      if (changes.size() > names) turn.commit(changes);
      return changes.size() - names;
    });
  });
}

Result<void> Engine::edit(const QueueIdentity& identity, const Edit& edit, const Signature& by) {
  // The original is read outside the turn. The bytes that the editor saw may be gone by now: that
  // is looked at first, and once more before anything changes.
  BodyPins pins(store_);
  CHECK(turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::Slot slot = find_free(turn.state(), queue, edit.key);
    if (slot != queue::kNoSlot && turn.state().messages()[slot].body == edit.of) pins.add(edit.of);
    return {};
  }));
  std::string bytes;
  std::optional<store::StoredMessage> stored;
  if (!pins.empty()) {
    if (const auto read = store_.read_message(edit.key, edit.of, bytes)) stored = *read;
  }
  return turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::Slot slot = find_free(turn.state(), queue, edit.key);
    if (slot == queue::kNoSlot) {
      return fail(ErrorCode::resource_not_found,
                  "The message is not in the queue, or a consumer holds it.");
    }
    if (turn.state().messages()[slot].body != edit.of) {
      return fail(ErrorCode::resource_not_found, "The message has changed in the meantime.");
    }
    const queue::Queue* to = nullptr;
    if (edit.destination) to = TRY(turn.queue(*edit.destination));
    if (to != nullptr && to->settings.is_fifo() != queue.settings.is_fifo()) {
      return fail(ErrorCode::invalid_parameter_value,
                  "Source and destination queues must be of the same type.");
    }
    if (!stored) return fail(ErrorCode::internal_failure, "The message cannot be read.");
    const queue::Queue& bin = *TRY(turn.bin(identity));
    std::vector<Change> changes;
    const queue::NameIndex actor = turn.name(by.actor, changes);
    const queue::NameIndex reason = turn.name(by.reason, changes);
    const MessageKey original = next(turn.state().last_key());
    keep_original(turn.state(),
                  {.queue = queue,
                   .slot = slot,
                   .stored = *stored,
                   .bin = bin,
                   .key = original,
                   .message_id = ids_.uuid(),
                   .actor = actor,
                   .reason = reason},
                  turn.stamp(),
                  changes);
    changes.push_back(queue::MessageEdited{edit.key, actor, reason, edit.stored, {}});
    if (to != nullptr) {
      changes.push_back(queue::MessageRedriven{.task = queue::TaskKey::none,
                                               .key = edit.key,
                                               .from = queue.key,
                                               .to = to->key,
                                               .message_id = ids_.uuid(),
                                               .sequence = number(original) + 1,
                                               .actor = actor,
                                               .reason = reason});
    }
    turn.commit(changes);
    return {};
  });
}

Result<void> Engine::note_tried(const QueueIdentity& identity, MessageKey key,
                                const Signature& by) {
  return turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    if (turn.state().find_message(queue, key) == queue::kNoSlot) {
      return fail(ErrorCode::resource_not_found, "The message is not in the queue.");
    }
    std::vector<Change> changes;
    const queue::NameIndex actor = turn.name(by.actor, changes);
    const queue::NameIndex reason = turn.name(by.reason, changes);
    changes.push_back(queue::MessageTried{queue.key, key, actor, reason});
    turn.commit(changes);
    return {};
  });
}

}  // namespace redrive::engine
