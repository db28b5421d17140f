#include "dead_letters/policy/decide_policy.h"

#include <algorithm>
#include <ranges>

#include "core/queue/redrive.h"

namespace redrive::dead_letters {
namespace {

using queue::DeadLetterPolicy;

// Messages are archived so long before their retention ends.
constexpr Duration kBeforeExpiry = std::chrono::minutes(10);
constexpr std::string_view kExpiring = "about to expire";
constexpr std::string_view kSpent = "all redrives of the policy are used up";

// How long ago it became a dead letter.
Duration dead_for(const queue::History& history, Timestamp wall) {
  for (const queue::LineageEvent& event : std::views::reverse(history.events)) {
    if (event.kind == queue::LineageEvent::Kind::dead_lettered ||
        event.kind == queue::LineageEvent::Kind::restored) {
      return std::max(Duration::zero(), wall - event.wall);
    }
  }
  return Duration::zero();
}

Timestamp archived_at(const queue::State& state, const queue::Queue& queue, queue::Slot slot) {
  return state.messages()[slot].sent_at + queue.settings.retention - kBeforeExpiry;
}

}  // namespace

bool is_dead_letter(const queue::State& state, queue::Slot slot) {
  if (slot == queue::kNoSlot) return false;
  const queue::History* history = state.messages().history_if(slot);
  return history != nullptr && history->dead_letter_source != queue::NameIndex::none;
}

bool is_active(const DeadLetterPolicy& policy) {
  return policy.redrive_after > std::chrono::seconds(0) || policy.archive_expiring ||
         (policy.redrives_max > 0 && policy.then != DeadLetterPolicy::Then::park);
}

Timestamp decide_due(const queue::State& state, const queue::Queue& queue, queue::Slot slot,
                     const DeadLetterPolicy& policy, const queue::Stamp& stamp) {
  const queue::History& history = *state.messages().history_if(slot);
  Timestamp due = kNever;
  if (policy.is_spent(history.redrives)) {
    if (policy.then != DeadLetterPolicy::Then::park) due = stamp.now;
  } else if (policy.redrive_after > std::chrono::seconds(0)) {
    const Duration left =
        Duration(policy.delay_after(history.redrives)) - dead_for(history, stamp.wall);
    due = stamp.now + std::max(Duration::zero(), left);
  }
  if (policy.archive_expiring) {
    due = std::min(due, std::max(archived_at(state, queue, slot), stamp.now));
  }
  return due;
}

PolicyVerdict decide_policy(const queue::State& state, const queue::Queue& queue, queue::Slot slot,
                            const DeadLetterPolicy& policy, Timestamp now) {
  using Kind = PolicyVerdict::Kind;
  const queue::History& history = *state.messages().history_if(slot);
  const bool expiring = policy.archive_expiring && archived_at(state, queue, slot) <= now;
  const bool spent = policy.is_spent(history.redrives);
  if (expiring || (spent && policy.then == DeadLetterPolicy::Then::archive)) {
    return {.kind = Kind::archive, .reason = spent ? kSpent : kExpiring};
  }
  if (spent) {
    const bool discards = policy.then == DeadLetterPolicy::Then::discard;
    return {.kind = discards ? Kind::discard : Kind::leave};
  }
  if (policy.redrive_after == std::chrono::seconds(0)) return {};
  const queue::Queue* source = state.find_by_arn(state.name(history.dead_letter_source));
  if (source == nullptr || !queue::check_same_type(queue, *source)) return {};
  return {.kind = Kind::redrive, .to = source};
}

}  // namespace redrive::dead_letters
