#include "core/queue/receive.h"

#include <algorithm>
#include <cassert>

#include "core/queue/isolation.h"

namespace redrive::queue {
namespace {

// The same attempt id within the window gives the same messages, unless one of them has changed
// since.
bool repeat_attempt(const State& state, const Queue& queue, const ReceiveQuery& query,
                    const Stamp& stamp, ReceiveRepeated& repeated) {
  const auto found = queue.receive_attempts.find(query.attempt_id);
  if (found == queue.receive_attempts.end() || found->second.expires <= stamp.now) return false;
  const auto& given = found->second.messages;
  if (given.empty()) return false;
  for (const auto& [key, generation] : given) {
    const Slot slot = state.find_message(queue, key);
    if (slot == kNoSlot || state.generation(slot) != generation) return false;
    const Message& message = state.messages()[slot];
    if (message.phase != Phase::in_flight || message.visibility_touched) return false;
    repeated.keys[repeated.count++] = key;
  }
  repeated.queue = queue.key;
  repeated.visible_at = stamp.now + query.visibility;
  return true;
}

// How often this queue has delivered the message. Receives in other queues do not count: otherwise
// two queues that are each other's dead-letter queue would move a spent message back and forth
// without end while consumers wait on both.
std::uint32_t receives_here(const State& state, Slot slot) {
  const History* history = state.messages().history_if(slot);
  return state.generation(slot) - (history == nullptr ? 0 : history->entered_generation);
}

bool has_had_its_receives(const State& state, Slot slot, std::uint32_t receives_max) {
  const std::uint32_t receives = receives_here(state, slot);
  if (receives < receives_max) return false;
  const History* history = state.messages().history_if(slot);
  return history == nullptr || is_spent(history->recent(receives), receives, receives_max);
}

}  // namespace

IsolationTerms isolation_terms(const State& state, const Queue& queue, Slot slot) {
  const History& history = *state.messages().history_if(slot);
  const std::uint32_t receives = receives_here(state, slot);
  const std::span<const Attempt> recent = history.recent(receives);
  if (recent.empty()) return {};
  return {.alone = must_run_alone(recent.first(recent.size() - 1)),
          .last = queue.settings.redrive &&
                  counted_receives(recent, receives) >= queue.settings.redrive->receive_count_max};
}

const Queue* dead_letter_target(const State& state, const Queue& queue) {
  if (!queue.settings.redrive) return nullptr;
  const Queue* target = state.find_by_arn(queue.settings.redrive->target_arn);
  // An internal queue is never a dead-letter queue, whatever an old journal says.
  const bool fits = target != nullptr && target != &queue && !target->identity.is_hidden() &&
                    target->settings.is_fifo() == queue.settings.is_fifo();
  return fits ? target : nullptr;
}

ReceiveDecision decide_receive(const State& state, const Queue& queue, const ReceiveQuery& query,
                               const Stamp& stamp) {
  assert(query.max >= 1 && query.max <= kReceiveMax);
  ReceiveDecision decision;
  const Mailbox& box = state.mailbox(queue);
  if (box.is_fifo() && !query.attempt_id.empty() &&
      repeat_attempt(state, queue, query, stamp, decision.repeated)) {
    return decision;
  }
  decision.repeated.count = 0;
  decision.received.queue = queue.key;
  decision.received.by = query.by;
  decision.received.isolated = query.isolated && !box.is_fifo();
  decision.received.visible_at = stamp.now + query.visibility;
  if (box.is_fifo()) decision.received.attempt_id = query.attempt_id;
  if (box.visible() == 0) return decision;

  const Queue* target = dead_letter_target(state, queue);
  std::uint64_t sequence = number(state.last_key());
  ReadyWalk walk(box);
  while (decision.received.count < query.max) {
    if (box.in_flight() + decision.received.count >= kInFlightMax) {
      decision.in_flight_limit_reached = true;
      break;
    }
    const Slot slot = walk.next();
    if (slot == kNoSlot) break;
    state.count_work(1);
    const Message& message = state.messages()[slot];
    if (target != nullptr &&
        has_had_its_receives(state, slot, queue.settings.redrive->receive_count_max)) {
      if (decision.dead_lettered.size() == kDeadLettersPerReceive) break;
      decision.dead_lettered.push_back(
          {.key = message.key, .from = queue.key, .to = target->key, .sequence = ++sequence});
      continue;
    }
    decision.received.keys[decision.received.count++] = message.key;
  }
  return decision;
}

}  // namespace redrive::queue
