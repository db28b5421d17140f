#include "dead_letters/policy/policies.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/queue/redrive.h"
#include "dead_letters/bin/decide_bin.h"

namespace redrive::dead_letters {
namespace {

using engine::Turn;
using queue::Change;
using queue::DeadLetterPolicy;
using queue::MessageKey;
using queue::Queue;

constexpr std::size_t kPolicyMovesPerTurn = 256;
constexpr std::size_t kScannedPerTurn = 250;
constexpr std::size_t kArchivedPerSlice = 64;
// Until a message is looked at again that a consumer holds, or that the archive did not take.
constexpr Duration kLookAgain = std::chrono::seconds(30);
constexpr std::string_view kPolicyActor = "policy";

void discard_spent(Turn& turn, const Queue& queue, MessageKey key) {
  const auto bin = bin_for(turn, queue.identity);  // First: creating it records facts of its own.
  if (!bin) return;
  std::vector<Change> changes;
  const engine::ActorNames by = turn.names({.name = kPolicyActor}, changes);
  decide_discard(turn.state(), {.from = queue, .bin = **bin, .by = by}, {&key, 1}, changes);
  turn.commit(changes);
}

void redrive_to_source(Turn& turn, const Queue& queue, MessageKey key, const Queue& source) {
  std::vector<Change> changes;
  const engine::ActorNames by = turn.names({.name = kPolicyActor}, changes);
  const queue::Redrive redrive{.from = queue, .to = source, .actor = by.actor, .reason = by.reason};
  const std::uint64_t sequence = number(turn.state().last_key()) + 1;
  changes.push_back(queue::decide_redrive(redrive, key, turn.ids().uuid(), sequence));
  turn.commit(changes);
}

}  // namespace

void Policies::start(Turn& turn) {
  for (const auto& [identity, queue] : turn.state().queues()) adopt(turn, queue->key);
  while (!scans_.empty()) scan(turn, SIZE_MAX);
  rearm();
}

void Policies::noted(Turn& turn, const engine::Noted& noted) {
  for (const queue::QueueKey key : noted.queues) adopt(turn, key);
  for (const auto& [key, message] : noted.dead_letters) {
    if (const Queue* queue = turn.find(key)) follow(turn, *queue, message);
  }
  rearm();
}

void Policies::reset(Turn&) {
  while (!schedules_.empty()) retire(schedules_.begin()->first);
  rearm();
}

void Policies::rearm() {
  const Timestamp next = wakes_.empty() ? kNever : wakes_.begin()->first;
  wake_at(std::min(next, scan_at_));
}

// The settings of a queue have changed, or it is gone: its schedule is made anew, if it would
// differ. The schedules of other queues stay as they are.
void Policies::adopt(Turn& turn, queue::QueueKey key) {
  const Queue* queue = turn.find(key);
  const DeadLetterPolicy* policy = queue == nullptr ? nullptr : book_.of(*queue);
  const auto known = schedules_.find(key);
  if (policy == nullptr || !is_active(*policy)) return retire(key);
  const bool same = known != schedules_.end() && known->second.policy == *policy &&
                    known->second.retention == queue->settings.retention;
  if (same) return;
  retire(key);
  Schedule& schedule = schedule_of(*queue, *policy);
  schedule.scanned.emplace();
  schedule.scan_to = number(turn.state().last_key());
  scans_.insert(key);
  scan(turn, kScannedPerTurn);
}

Policies::Schedule& Policies::schedule_of(const Queue& queue, const DeadLetterPolicy& policy) {
  const auto [at, fresh] = schedules_.try_emplace(queue.key);
  if (fresh) {
    at->second.policy = policy;
    at->second.retention = queue.settings.retention;
  }
  return at->second;
}

void Policies::retire(queue::QueueKey key) {
  const auto found = schedules_.find(key);
  if (found == schedules_.end()) return;
  if (found->second.wake != kNever) wakes_.erase({found->second.wake, key});
  scans_.erase(key);
  if (!found->second.dues.empty()) retired_.push_back(std::move(found->second.dues));
  schedules_.erase(found);
}

void Policies::rearm(queue::QueueKey key, Schedule& schedule) {
  const Timestamp at = schedule.dues.empty() ? kNever : schedule.dues.begin()->at;
  if (at == schedule.wake) return;
  if (schedule.wake != kNever) wakes_.erase({schedule.wake, key});
  schedule.wake = at;
  if (at != kNever) wakes_.insert({at, key});
}

// Looks at what stood in queues when their policies changed, some of it in each turn.
void Policies::scan(Turn& turn, std::size_t max) {
  if (scans_.empty()) return;
  const queue::State& state = turn.state();
  const queue::QueueKey key = *scans_.begin();
  Schedule& schedule = schedules_.at(key);
  const Queue& queue = *state.find(key);
  const std::vector<queue::Slot> page = state.mailbox(queue).page(*schedule.scanned, max);
  state.count_work(page.size());
  for (const queue::Slot slot : page) {
    // What came after the change was noted when it came.
    if (state.order_of(slot) > schedule.scan_to) continue;
    follow(turn, queue, state.messages()[slot].key);
  }
  if (page.size() == max) {
    schedule.scanned = state.mailbox(queue).age_of(page.back());
  } else {
    schedule.scanned.reset();
    scans_.erase(key);
  }
  if (!scans_.empty()) scan_at_ = turn.stamp().now;
}

// Schedules the policy's next look at this dead letter.
void Policies::follow(Turn& turn, const Queue& queue, MessageKey key) {
  const queue::State& state = turn.state();
  const DeadLetterPolicy* policy = book_.of(queue);
  const queue::Slot slot = state.find_message(queue, key);
  if (policy == nullptr || !is_active(*policy) || !is_dead_letter(state, slot)) return;
  const Timestamp due = decide_due(state, queue, slot, *policy, turn.stamp());
  if (due == kNever) return;
  Schedule& schedule = schedule_of(queue, *policy);
  schedule.dues.insert({due, key, state.order_of(slot)});
  rearm(queue.key, schedule);
}

// Whether the message is to be looked at again.
bool Policies::apply(Turn& turn, Queue& queue, queue::Slot slot, const DeadLetterPolicy& policy) {
  using Kind = PolicyVerdict::Kind;
  const MessageKey key = turn.state().messages()[slot].key;
  const PolicyVerdict verdict = decide_policy(turn.state(), queue, slot, policy, turn.stamp().now);
  if (verdict.kind == Kind::archive) to_archive_.push_back({queue.key, key, verdict.reason});
  if (verdict.kind == Kind::discard) discard_spent(turn, queue, key);
  if (verdict.kind == Kind::redrive) redrive_to_source(turn, queue, key, *verdict.to);
  return verdict.kind == Kind::archive;
}

void Policies::run(Turn& turn) {
  scan_at_ = kNever;
  scan(turn, kScannedPerTurn);
  for (std::size_t left = kPolicyMovesPerTurn; left > 0 && run_one(turn); --left) {
  }
  rearm();
}

// Carries out what is due first. False: nothing is due.
bool Policies::run_one(Turn& turn) {
  const Timestamp now = turn.stamp().now;
  if (wakes_.empty() || wakes_.begin()->first > now) return false;
  const queue::QueueKey key = wakes_.begin()->second;
  Schedule& schedule = schedules_.at(key);
  const Due due = *schedule.dues.begin();
  schedule.dues.erase(schedule.dues.begin());
  rearm(key, schedule);
  Queue* queue = turn.find(key);
  const DeadLetterPolicy* policy = queue == nullptr ? nullptr : book_.of(*queue);
  if (policy == nullptr) return true;
  turn.advance(*queue);
  turn.state().count_work(1);
  const queue::State& state = turn.state();
  const queue::Slot slot = state.find_message(*queue, due.message);
  if (!is_dead_letter(state, slot) || state.order_of(slot) != due.place) return true;
  const bool held = state.messages()[slot].phase == queue::Phase::in_flight;
  if (held || apply(turn, *queue, slot, *policy)) {
    schedule.dues.insert({now + kLookAgain, due.message, due.place});
    rearm(key, schedule);
  }
  return true;
}

bool Policies::maintain() {
  free_retired();
  return archive_due() > 0;
}

// Outside the turn: there may be millions of entries.
void Policies::free_retired() {
  std::vector<Dues> retired;
  engine_.turn([&](Turn&) { retired.swap(retired_); });
}

// Outside the turn: archives take their time. Returns how many are left.
std::size_t Policies::archive_due() {
  std::vector<ArchiveItem> items;
  std::vector<queue::QueueKey> queues;
  engine::BodyPins pins(engine_.store());
  const std::size_t left = engine_.turn([&](Turn& turn) {
    const std::size_t count = std::min(kArchivedPerSlice, to_archive_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto [key, message, reason] = to_archive_[i];
      const Queue* queue = turn.find(key);
      const DeadLetterPolicy* policy = queue == nullptr ? nullptr : book_.of(*queue);
      const queue::Slot slot =
          policy != nullptr ? turn.state().find_message(*queue, message) : queue::kNoSlot;
      if (!is_dead_letter(turn.state(), slot)) continue;
      items.push_back({.target = policy->archive,
                       .reason = reason,
                       .queue_arn = queue->identity.arn(),
                       .message = look(turn.state(), *queue, slot, policy, turn.stamp()),
                       .stored = {},
                       .wall = turn.stamp().wall});
      queues.push_back(key);
      pins.add(items.back().message.body);
    }
    to_archive_.erase(to_archive_.begin(),
                      to_archive_.begin() + static_cast<std::ptrdiff_t>(count));
    return to_archive_.size();
  });
  for (std::size_t i = 0; i < items.size(); ++i) archive_one(queues[i], items[i]);
  return left;
}

void Policies::archive_one(queue::QueueKey queue, ArchiveItem& item) {
  const auto read = engine_.read_message(item.message.mark.key, item.message.body, item.stored);
  if (!read && read.error().code == ErrorCode::storage_damaged) return;
  Result<std::string> kept = fail(ErrorCode::internal_failure, "this server has no archive");
  if (!read) {
    kept = std::unexpected(read.error());
  } else if (archive_) {
    kept = archive_(item);
  }
  if (kept) return let_go_archived(queue, item, *kept);
  engine_.log(fmt::format("archiving failed, the dead letter stays: {}", kept.error().message));
}

// Removes a message that the archive has stored, unless it has changed or is held meanwhile.
void Policies::let_go_archived(queue::QueueKey key, const ArchiveItem& item,
                               std::string_view place) {
  const Uuid lineage = store::message_id_of(item.stored);
  const auto& history = item.message.history;
  engine_.turn([&](Turn& turn) {
    Queue* queue = turn.find(key);
    if (queue == nullptr) return;
    turn.advance(*queue);
    const queue::Slot slot = turn.state().find_message(*queue, item.message.mark.key);
    const bool same = is_dead_letter(turn.state(), slot) &&
                      turn.state().messages()[slot].body == item.message.body &&
                      turn.state().messages()[slot].phase != queue::Phase::in_flight;
    if (!same) return;
    std::vector<Change> changes;
    const auto by = turn.names({.name = kPolicyActor, .reason = item.reason}, changes);
    changes.push_back(queue::MessageArchived{
        .queue = key,
        .key = item.message.mark.key,
        .sequence = number(turn.state().last_key()) + 1,
        .lineage = lineage,
        .message_id = history && history->message_id ? *history->message_id : lineage,
        .actor = by.actor,
        .reason = by.reason,
        .place = place.substr(0, queue::kArchivePlaceBytesMax)});
    turn.commit(changes);
  });
}

}  // namespace redrive::dead_letters
