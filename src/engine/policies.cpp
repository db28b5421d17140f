// What dead-letter queues do by themselves: redrive with growing pauses, and what becomes of those
// for whom that did not help.

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/pattern.h"
#include "engine/engine.h"

namespace redrive::engine {
namespace {

using queue::Change;
using queue::DeadLetterPolicy;
using queue::MessageKey;
using queue::Queue;

constexpr std::size_t kPolicyMovesPerTurn = 256;
constexpr std::size_t kScannedPerTurn = 250;
constexpr std::size_t kArchivedPerSlice = 64;
// A message that a consumer holds, or an archive that does not answer: later.
constexpr Duration kLookAgain = std::chrono::seconds(30);
// Messages go into the archive so long before retention would take them.
constexpr Duration kBeforeExpiry = std::chrono::minutes(10);
constexpr std::string_view kPolicyActor = "policy";
constexpr std::string_view kExpiring = "about to expire";
constexpr std::string_view kSpent = "redriven as often as the policy allows";

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

// A message may come back to the queue in which it was one: to work.
bool is_dead_letter(const queue::State& state, queue::Slot slot) {
  if (slot == queue::kNoSlot) return false;
  const queue::History* history = state.messages().history_if(slot);
  return history != nullptr && history->dead_letter_source != queue::NameIndex::none;
}

bool does_anything(const DeadLetterPolicy& policy) {
  return policy.redrive_after > std::chrono::seconds(0) || policy.archive_expiring ||
         (policy.redrives_max > 0 && policy.then != DeadLetterPolicy::Then::park);
}

}  // namespace

const DeadLetterPolicy* Engine::policy_of(const Queue& queue) const {
  if (queue.settings.dead_letters) return &*queue.settings.dead_letters;
  if (queue.identity.is_hidden()) return nullptr;
  for (const PolicyRule& rule : policies_) {
    const bool fits = std::ranges::any_of(rule.queues, [&](const std::string& pattern) {
      return wildcard_match(pattern, queue.identity.name);
    });
    if (fits) return &rule.policy;
  }
  return nullptr;
}

// Settings of a queue have changed, or it is gone: its schedule is made anew, if it would be
// another one. Other queues' schedules stay as they are.
void Engine::adopt_policy(Turn& turn, queue::QueueKey key) {
  const Queue* queue = store_.state().find(key);
  const DeadLetterPolicy* policy = queue == nullptr ? nullptr : policy_of(*queue);
  const auto known = schedules_.find(key);
  if (policy == nullptr || !does_anything(*policy)) return retire_schedule(key);
  const bool same = known != schedules_.end() && known->second.policy == *policy &&
                    known->second.retention == queue->settings.retention;
  if (same) return;
  retire_schedule(key);
  PolicySchedule& schedule = schedule_of(*queue, *policy);
  schedule.scanned.emplace();
  schedule.scan_to = number(turn.state().last_key());
  policy_scans_.insert(key);
  scan_for_policies(turn, kScannedPerTurn);
}

Engine::PolicySchedule& Engine::schedule_of(const Queue& queue, const DeadLetterPolicy& policy) {
  const auto [at, fresh] = schedules_.try_emplace(queue.key);
  if (fresh) {
    at->second.policy = policy;
    at->second.retention = queue.settings.retention;
  }
  return at->second;
}

void Engine::retire_schedule(queue::QueueKey key) {
  const auto found = schedules_.find(key);
  if (found == schedules_.end()) return;
  if (found->second.wake != kNever) policy_wakes_.erase({found->second.wake, key});
  policy_scans_.erase(key);
  if (!found->second.dues.empty()) retired_dues_.push_back(std::move(found->second.dues));
  schedules_.erase(found);
}

void Engine::rearm_schedule(queue::QueueKey key, PolicySchedule& schedule) {
  const Timestamp at = schedule.dues.empty() ? kNever : schedule.dues.begin()->at;
  if (at == schedule.wake) return;
  if (schedule.wake != kNever) policy_wakes_.erase({schedule.wake, key});
  schedule.wake = at;
  if (at != kNever) policy_wakes_.insert({at, key});
}

// Looks at what stood in queues when their policies changed, some of it in each turn.
void Engine::scan_for_policies(Turn& turn, std::size_t max) {
  if (policy_scans_.empty()) return;
  const queue::State& state = turn.state();
  const queue::QueueKey key = *policy_scans_.begin();
  PolicySchedule& schedule = schedules_.at(key);
  const Queue& queue = *state.find(key);
  const std::vector<queue::Slot> page = state.mailbox(queue).page(*schedule.scanned, max);
  state.count_work(page.size());
  for (const queue::Slot slot : page) {
    // What came since the change has been noted as it came.
    if (state.order_of(slot) > schedule.scan_to) continue;
    follow_policy(queue, state.messages()[slot].key, turn.stamp());
  }
  if (page.size() == max) {
    schedule.scanned = state.mailbox(queue).age_of(page.back());
  } else {
    schedule.scanned.reset();
    policy_scans_.erase(key);
  }
  if (!policy_scans_.empty()) resume_at_ = turn.stamp().now;
}

// When the policy is to look at this dead letter next.
void Engine::follow_policy(const Queue& queue, MessageKey key, const queue::Stamp& stamp) {
  const DeadLetterPolicy* policy = policy_of(queue);
  const queue::Slot slot = store_.state().find_message(queue, key);
  if (policy == nullptr || !does_anything(*policy)) return;
  if (!is_dead_letter(store_.state(), slot)) return;
  const queue::History* history = store_.state().messages().history_if(slot);
  Timestamp due = kNever;
  if (policy->is_spent(history->redrives)) {
    if (policy->then != DeadLetterPolicy::Then::park) due = stamp.now;
  } else if (policy->redrive_after > std::chrono::seconds(0)) {
    const Duration left =
        Duration(policy->delay_after(history->redrives)) - dead_for(*history, stamp.wall);
    due = stamp.now + std::max(Duration::zero(), left);
  }
  if (policy->archive_expiring) {
    const queue::Message& message = store_.state().messages()[slot];
    const Timestamp ends = message.sent_at + queue.settings.retention - kBeforeExpiry;
    due = std::min(due, std::max(ends, stamp.now));
  }
  if (due == kNever) return;
  PolicySchedule& schedule = schedule_of(queue, *policy);
  schedule.dues.insert({due, key, store_.state().order_of(slot)});
  rearm_schedule(queue.key, schedule);
}

void Engine::discard_spent(Turn& turn, const Queue& queue, MessageKey key) {
  const auto bin = turn.bin(queue.identity);  // First: it may be made, with a name of its own.
  if (!bin) return;
  std::vector<Change> changes;
  const queue::NameIndex actor = turn.name(kPolicyActor, changes);
  changes.push_back(queue::MessageDiscarded{
      key, queue.key, (*bin)->key, number(turn.state().last_key()) + 1, actor, {}});
  turn.commit(changes);
}

// Whether there is more to be known of this message later.
bool Engine::apply_policy(Turn& turn, Queue& queue, queue::Slot slot,
                          const DeadLetterPolicy& policy) {
  const queue::State& state = turn.state();
  const queue::Message& message = state.messages()[slot];
  const queue::History& history = *state.messages().history_if(slot);
  const bool expiring =
      policy.archive_expiring &&
      message.sent_at + queue.settings.retention - kBeforeExpiry <= turn.stamp().now;
  const bool spent = policy.is_spent(history.redrives);
  if (expiring || (spent && policy.then == DeadLetterPolicy::Then::archive)) {
    to_archive_.push_back({queue.key, message.key, spent ? kSpent : kExpiring});
    return true;
  }
  if (spent) {
    if (policy.then == DeadLetterPolicy::Then::discard) discard_spent(turn, queue, message.key);
    return false;
  }
  if (policy.redrive_after == std::chrono::seconds(0)) return false;
  const Queue* source = state.find_by_arn(state.name(history.dead_letter_source));
  if (source == nullptr || source->settings.is_fifo() != queue.settings.is_fifo()) return false;
  std::vector<Change> changes;
  const queue::NameIndex actor = turn.name(kPolicyActor, changes);
  changes.push_back(queue::MessageRedriven{.task = queue::TaskKey::none,
                                           .key = message.key,
                                           .from = queue.key,
                                           .to = source->key,
                                           .message_id = ids_.uuid(),
                                           .sequence = number(state.last_key()) + 1,
                                           .actor = actor});
  turn.commit(changes);
  return false;
}

void Engine::run_policies(Turn& turn) {
  const Timestamp now = turn.stamp().now;
  scan_for_policies(turn, kScannedPerTurn);
  for (std::size_t left = kPolicyMovesPerTurn; left > 0; --left) {
    if (policy_wakes_.empty() || policy_wakes_.begin()->first > now) return;
    const queue::QueueKey key = policy_wakes_.begin()->second;
    PolicySchedule& schedule = schedules_.at(key);
    const PolicyDue due = *schedule.dues.begin();
    schedule.dues.erase(schedule.dues.begin());
    rearm_schedule(key, schedule);
    Queue* queue = store_.state().find(key);
    const DeadLetterPolicy* policy = queue == nullptr ? nullptr : policy_of(*queue);
    if (policy == nullptr) continue;
    turn.advance(*queue);
    turn.state().count_work(1);
    const queue::Slot slot = store_.state().find_message(*queue, due.message);
    if (!is_dead_letter(store_.state(), slot)) continue;
    if (store_.state().order_of(slot) != due.place) continue;
    const bool held = store_.state().messages()[slot].phase == queue::Phase::in_flight;
    if (held || apply_policy(turn, *queue, slot, *policy)) {
      schedule.dues.insert({now + kLookAgain, due.message, due.place});
      rearm_schedule(key, schedule);
    }
  }
}

// Outside the turn: archives take their time. How many are left.
std::size_t Engine::archive_due() {
  std::vector<ArchiveItem> items;
  std::vector<queue::QueueKey> queues;
  BodyPins pins(store_);
  const std::size_t left = turn([&](Turn& turn) {
    const std::size_t count = std::min(kArchivedPerSlice, to_archive_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto [key, message, reason] = to_archive_[i];
      Queue* queue = store_.state().find(key);
      const DeadLetterPolicy* policy = queue == nullptr ? nullptr : policy_of(*queue);
      const queue::Slot slot =
          policy != nullptr ? store_.state().find_message(*queue, message) : queue::kNoSlot;
      if (!is_dead_letter(store_.state(), slot)) continue;
      items.push_back({.target = policy->archive,
                       .reason = reason,
                       .queue_arn = queue->identity.arn(),
                       .message = look(*queue, slot, turn.stamp()),
                       .stored = {},
                       .wall = turn.stamp().wall});
      queues.push_back(key);
      pins.add(items.back().message.body);
    }
    to_archive_.erase(to_archive_.begin(),
                      to_archive_.begin() + static_cast<std::ptrdiff_t>(count));
    return to_archive_.size();
  });
  for (std::size_t i = 0; i < items.size(); ++i) {
    ArchiveItem& item = items[i];
    const auto read = read_message(item.message.mark.key, item.message.body, item.stored);
    if (!read && read.error().code == ErrorCode::storage_damaged) continue;
    const Result<std::string> kept = read ? archive(item) : std::unexpected(read.error());
    if (kept) {
      let_go_archived(queues[i], item, *kept);
    } else if (hooks_.log) {
      hooks_.log(fmt::format("a dead letter stays: archiving failed: {}", kept.error().message));
    }
  }
  return left;
}

Result<std::string> Engine::archive(const ArchiveItem& item) const {
  if (hooks_.archive) return hooks_.archive(item);
  return fail(ErrorCode::internal_failure, "this server has no archive");
}

// The archive has it: it may go, unless somebody has changed it or taken it meanwhile.
void Engine::let_go_archived(queue::QueueKey key, const ArchiveItem& item, std::string_view place) {
  const Uuid lineage = store::message_id_of(item.stored);
  const auto& history = item.message.history;
  turn([&](Turn& turn) {
    Queue* queue = store_.state().find(key);
    if (queue == nullptr) return;
    turn.advance(*queue);
    const queue::Slot slot = turn.state().find_message(*queue, item.message.mark.key);
    const bool same = is_dead_letter(turn.state(), slot) &&
                      turn.state().messages()[slot].body == item.message.body &&
                      turn.state().messages()[slot].phase != queue::Phase::in_flight;
    if (!same) return;
    std::vector<Change> changes;
    const queue::NameIndex actor = turn.name(kPolicyActor, changes);
    const queue::NameIndex reason = turn.name(item.reason, changes);
    changes.push_back(queue::MessageArchived{
        .queue = key,
        .key = item.message.mark.key,
        .sequence = number(turn.state().last_key()) + 1,
        .lineage = lineage,
        .message_id = history && history->message_id ? *history->message_id : lineage,
        .actor = actor,
        .reason = reason,
        .place = place.substr(0, queue::kArchivePlaceBytesMax)});
    turn.commit(changes);
  });
}

}  // namespace redrive::engine
