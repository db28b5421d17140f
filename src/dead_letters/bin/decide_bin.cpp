#include "dead_letters/bin/decide_bin.h"

#include "core/queue/hidden_queues.h"
#include "core/queue/redrive.h"

namespace redrive::dead_letters {
namespace {

using queue::MessageKey;
using queue::Slot;

}  // namespace

Result<queue::Queue*> bin_for(engine::Turn& turn, const queue::QueueIdentity& identity) {
  TRY(turn.queue(identity));
  queue::QueueSettings settings;
  settings.retention = kBinRetention;
  return &turn.hidden_queue(queue::bin_of(identity), settings);
}

Slot find_free(const queue::State& state, const queue::Queue& queue, MessageKey key) {
  const Slot slot = state.find_message(queue, key);
  const bool free =
      slot != queue::kNoSlot && state.messages()[slot].phase != queue::Phase::in_flight;
  return free ? slot : queue::kNoSlot;
}

void decide_discard(const queue::State& state, const Discard& discard,
                    std::span<const MessageKey> keys, std::vector<queue::Change>& changes) {
  std::uint64_t sequence = number(state.last_key());
  for (const MessageKey key : keys) {
    if (find_free(state, discard.from, key) == queue::kNoSlot) continue;
    changes.push_back(queue::MessageDiscarded{
        key, discard.from.key, discard.bin.key, ++sequence, discard.by.actor, discard.by.reason});
  }
}

void decide_restore(const queue::State& state, const Restore& restore,
                    std::span<const MessageKey> keys, std::vector<queue::Change>& changes) {
  std::uint64_t sequence = number(state.last_key());
  for (const MessageKey key : keys) {
    if (find_free(state, restore.bin, key) == queue::kNoSlot) continue;
    changes.push_back(
        queue::MessageRestored{key, restore.bin.key, restore.to.key, ++sequence, restore.actor});
  }
}

Result<Slot> decide_edit(const queue::State& state, const EditPlan& plan) {
  const Slot slot = find_free(state, plan.queue, plan.key);
  if (slot == queue::kNoSlot) {
    return fail(ErrorCode::resource_not_found, "The message is not in the queue, or is in flight.");
  }
  if (state.messages()[slot].body != plan.of) {
    return fail(ErrorCode::resource_not_found, "The message has changed in the meantime.");
  }
  if (plan.to != nullptr) RETURN_IF_ERROR(queue::check_same_type(plan.queue, *plan.to));
  return slot;
}

}  // namespace redrive::dead_letters
