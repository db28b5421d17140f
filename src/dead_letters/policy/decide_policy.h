#pragma once

#include <string_view>
#include <vector>

#include "core/engine/turn.h"
#include "core/queue/change.h"
#include "core/queue/state.h"

// What a policy does with a dead letter, and when. Pure: equal arguments give equal decisions.
namespace redrive::dead_letters {

// A message may come back to its dead-letter queue to be processed there: then it is no dead
// letter.
bool is_dead_letter(const queue::State& state, queue::Slot slot);
// Whether the policy does anything by itself.
bool is_active(const queue::DeadLetterPolicy& policy);

// When the policy is to look at this dead letter next; kNever: not at all.
Timestamp decide_due(const queue::State& state, const queue::Queue& queue, queue::Slot slot,
                     const queue::DeadLetterPolicy& policy, const queue::Stamp& stamp);

// What is due for a dead letter that no consumer holds.
struct PolicyVerdict {
  enum class Kind { leave, redrive, discard, archive };

  Kind kind = Kind::leave;
  const queue::Queue* to = nullptr;  // Where it is redriven to.
  std::string_view reason = {};      // Why it is archived.
};
PolicyVerdict decide_policy(const queue::State& state, const queue::Queue& queue, queue::Slot slot,
                            const queue::DeadLetterPolicy& policy, Timestamp now);

}  // namespace redrive::dead_letters
