#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/engine/turn.h"
#include "core/queue/change.h"
#include "core/queue/state.h"
#include "dead_letters/bin/originals.h"

// Dead letters discarded, restored and edited: facts for a turn to record. Pure, but for bin_for.
namespace redrive::dead_letters {

// How long discarded dead letters can be restored.
inline constexpr std::chrono::seconds kBinRetention = std::chrono::days(7);

// The bin of that queue, created when there is none yet.
Result<queue::Queue*> bin_for(engine::Turn& turn, const queue::QueueIdentity& identity);

// A message that no consumer holds; kNoSlot otherwise: held messages are left to their consumers.
queue::Slot find_free(const queue::State& state, const queue::Queue& queue, queue::MessageKey key);

struct Discard {
  const queue::Queue& from;
  const queue::Queue& bin;
  engine::ActorNames by;
};
// Moves those of the messages that no consumer holds into the bin. Keys must be distinct.
void decide_discard(const queue::State& state, const Discard& discard,
                    std::span<const queue::MessageKey> keys, std::vector<queue::Change>& changes);

struct Restore {
  const queue::Queue& bin;
  const queue::Queue& to;
  queue::NameIndex actor{};
};
// Moves discarded messages back. Keys must be distinct.
void decide_restore(const queue::State& state, const Restore& restore,
                    std::span<const queue::MessageKey> keys, std::vector<queue::Change>& changes);

// New contents for a dead letter whose bytes are `of`.
struct EditPlan {
  const queue::Queue& queue;
  queue::MessageKey key;
  queue::BodyRef of;
  const queue::Queue* to = nullptr;  // Redriven there in the same record.
};
// The message to be edited, if the edit is allowed.
Result<queue::Slot> decide_edit(const queue::State& state, const EditPlan& plan);

}  // namespace redrive::dead_letters
