#include "dead_letters/bin/bin.h"

#include <algorithm>
#include <vector>

#include "core/queue/redrive.h"
#include "dead_letters/bin/decide_bin.h"

namespace redrive::dead_letters {
namespace {

using engine::Actor;
using engine::ActorNames;
using engine::Turn;
using queue::Change;
using queue::MessageKey;
using queue::QueueIdentity;

constexpr std::size_t kMovedPerTurn = 250;

// Each key once: after the first move a message is elsewhere.
std::vector<MessageKey> distinct(std::span<const MessageKey> keys) {
  std::vector<MessageKey> sorted(keys.begin(), keys.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::unique(sorted);
  sorted.erase(twice.begin(), twice.end());
  return sorted;
}

// Records what comes behind the first `names` facts, if there is anything; returns how many.
std::size_t commit_moves(Turn& turn, std::vector<Change>& changes, std::size_t names) {
  if (changes.size() > names) turn.commit(changes);
  return changes.size() - names;
}

}  // namespace

// Calls `move(some of the keys)` until all have had their turn; returns how many it moved.
template <class MoveSome>
Result<std::size_t> Bin::in_portions(std::span<const MessageKey> keys, MoveSome move) {
  const std::vector<MessageKey> all = distinct(keys);
  std::size_t moved = 0;
  std::size_t at = 0;
  do {
    const std::size_t size = std::min(kMovedPerTurn, all.size() - at);
    const auto some = std::span(all).subspan(at, size);
    moved += TRY(engine_.turn([&](Turn& turn) { return move(turn, some); }));
    at += size;
    if (at < all.size()) engine_.give_way();
  } while (at < all.size());
  return moved;
}

Result<std::size_t> Bin::discard(const QueueIdentity& identity, std::span<const MessageKey> keys,
                                 const Actor& by) {
  return in_portions(
      keys, [&](Turn& turn, std::span<const MessageKey> some) -> Result<std::size_t> {
        const queue::Queue& bin = *TRY(bin_for(turn, identity));
        const queue::Queue& queue = *TRY(turn.queue(identity));
        std::vector<Change> changes;
        const Discard discard{.from = queue, .bin = bin, .by = turn.names(by, changes)};
        const std::size_t names = changes.size();
        decide_discard(turn.state(), discard, some, changes);
        return commit_moves(turn, changes, names);
      });
}

Result<std::size_t> Bin::restore(const QueueIdentity& identity, std::span<const MessageKey> keys,
                                 const Actor& by) {
  return in_portions(
      keys, [&](Turn& turn, std::span<const MessageKey> some) -> Result<std::size_t> {
        const queue::Queue& bin = *TRY(bin_for(turn, identity));
        const queue::Queue& queue = *TRY(turn.queue(identity));
        std::vector<Change> changes;
        const Restore restore{.bin = bin, .to = queue, .actor = turn.name(by.name, changes)};
        const std::size_t names = changes.size();
        decide_restore(turn.state(), restore, some, changes);
        return commit_moves(turn, changes, names);
      });
}

Result<void> Bin::edit(const QueueIdentity& identity, const Edit& edit, const Actor& by) {
  // The original is read outside the turn. The bytes that the editor saw may be gone by now: that
  // is checked first, and once more before anything changes.
  engine::BodyPins pins(engine_.store());
  RETURN_IF_ERROR(engine_.turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::Slot slot = find_free(turn.state(), queue, edit.key);
    if (slot != queue::kNoSlot && turn.state().messages()[slot].body == edit.of) pins.add(edit.of);
    return {};
  }));
  std::string bytes;
  std::optional<store::StoredMessage> stored;
  if (!pins.empty()) {
    if (const auto read = engine_.store().read_message(edit.key, edit.of, bytes)) stored = *read;
  }
  return engine_.turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::Queue* to = nullptr;
    TRY(decide_edit(turn.state(), {.queue = queue, .key = edit.key, .of = edit.of}));
    if (edit.destination) to = TRY(turn.queue(*edit.destination));
    const queue::Slot slot =
        TRY(decide_edit(turn.state(), {.queue = queue, .key = edit.key, .of = edit.of, .to = to}));
    if (!stored) return fail(ErrorCode::internal_failure, "The message cannot be read.");
    const queue::Queue& bin = *TRY(bin_for(turn, identity));
    std::vector<Change> changes;
    const ActorNames names = turn.names(by, changes);
    const MessageKey original = next(turn.state().last_key());
    keep_original(turn.state(),
                  {.queue = queue,
                   .slot = slot,
                   .stored = *stored,
                   .bin = bin,
                   .key = original,
                   .message_id = turn.ids().uuid(),
                   .actor = names.actor,
                   .reason = names.reason},
                  turn.stamp(),
                  changes);
    changes.push_back(queue::MessageEdited{edit.key, names.actor, names.reason, edit.stored, {}});
    if (to != nullptr) {
      const queue::Redrive redrive{
          .from = queue, .to = *to, .actor = names.actor, .reason = names.reason};
      changes.push_back(
          queue::decide_redrive(redrive, edit.key, turn.ids().uuid(), number(original) + 1));
    }
    turn.commit(changes);
    return {};
  });
}

Result<void> Bin::note_tried(const QueueIdentity& identity, MessageKey key, const Actor& by) {
  return engine_.turn([&](Turn& turn) -> Result<void> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    if (turn.state().find_message(queue, key) == queue::kNoSlot) {
      return fail(ErrorCode::resource_not_found, "The message is not in the queue.");
    }
    std::vector<Change> changes;
    const ActorNames names = turn.names(by, changes);
    changes.push_back(queue::MessageTried{queue.key, key, names.actor, names.reason});
    turn.commit(changes);
    return {};
  });
}

}  // namespace redrive::dead_letters
