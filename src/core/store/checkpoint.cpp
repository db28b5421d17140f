// Background work of the store: checkpoints, and compaction (moving the remaining messages out of
// nearly empty segments).

#include <algorithm>
#include <cassert>

#include "core/store/store.h"

namespace redrive::store {
namespace {

// One slice holds the engine's turn for some tens of microseconds.
constexpr queue::Slot kSlotsPerSlice = 2048;
constexpr std::size_t kMessagesPerSlice = 512;
constexpr std::size_t kBuriedPerSlice = 1024;
constexpr std::size_t kRelocationsPerSlice = 128;
constexpr std::uint64_t kRelocationBytesPerSlice = 1u << 20;
constexpr std::uint64_t kGarbageBytesMin = 64u << 20;
constexpr std::uint32_t kSparesMin = 2;
constexpr Duration kQuiet{1000};
// A checkpoint is due when the log since the last one's start is this many times its size. Writing
// it again then adds a third to the cost of the records since; a larger factor would slow down the
// next start.
constexpr std::uint64_t kCheckpointTimes = 4;
// Upper bounds for the size of a fact of each kind.
constexpr std::size_t kMessageFactBytes = 2 << 10;
constexpr std::size_t kArchivedFactBytes = 4 << 10;
constexpr std::size_t kErrorFactBytes = 8 << 10;
constexpr std::size_t kTaskFactBytes = 72 << 10;
constexpr std::size_t kGroupFactBytes = 8 << 10;
constexpr std::size_t kQueueFactBytes = 270 << 10;
constexpr std::size_t kSmallFactBytes = 1 << 10;
// Limits per slice when writing queues and documents.
constexpr std::size_t kSnapshotBytesPerSlice = 256 << 10;
constexpr std::size_t kQueuesPerSlice = 1024;
// A waiting message counts as much as a fact of its own: it will need one once it has been
// received, so the reserve must have space for it; and visiting all messages takes time, however
// few bytes they need.
constexpr std::size_t kMessageSnapshotBytes = 52;
constexpr std::size_t kWaitingCountsMore = kMessageSnapshotBytes - kWaitingMessageBytesMin;

// Unchanged since it was sent, so a WaitingSnapshot describes it completely.
bool waits_as_sent(const queue::Message& message) {
  return message.phase == queue::Phase::visible && message.receive_count == 0 &&
         message.history == 0 && message.group == 0 && !message.visibility_touched;
}

// Approximate size of a queue's snapshot.
std::size_t snapshot_bytes(const queue::Queue& queue) {
  std::size_t bytes = kSmallFactBytes + queue.processed.size() + queue.settings.policy.size();
  for (const auto& [key, value] : queue.tags) bytes += key.size() + value.size();
  return bytes;
}

}  // namespace

using queue::Change;
using queue::MessageKey;
using queue::QueueKey;
using queue::Slot;
using queue::Stamp;

bool Store::checkpoint_due() const {
  const auto totals = journal_->totals();
  const std::uint64_t limit =
      std::max(options_.checkpoint_bytes_min, kCheckpointTimes * last_checkpoint_bytes_);
  const std::uint64_t segments =
      options_.checkpoint_segments + limit / journal_->payload_bytes_max();
  return totals.bytes_since_checkpoint > limit || totals.segments_since_checkpoint > segments;
}

bool Store::maintain(const Stamp& stamp) {
  const bool burying = state_.bury(kBuriedPerSlice);
  // Released space can be reused only after a later record is durable, so make sure that there is
  // one.
  if (let_go_since_record_ && stamp.now >= last_stamp_.now + kQuiet) {
    const Change passed = queue::TimePassed{};
    append(stamp, std::span(&passed, 1));
  }
  const std::uint64_t before = journal_->totals().bytes_appended;
  continue_checkpoint(stamp);
  if (checkpointing()) checkpoint_.bytes += journal_->totals().bytes_appended - before;
  const bool waiting = checkpoint_.phase == Checkpoint::Phase::syncing;
  return burying || (checkpointing() && !waiting);
}

void Store::continue_checkpoint(const Stamp& stamp) {
  switch (checkpoint_.phase) {
    case Checkpoint::Phase::idle:
      if (checkpoint_due()) begin_checkpoint(stamp);
      return;
    case Checkpoint::Phase::names:
      return checkpoint_names(stamp);
    case Checkpoint::Phase::queues:
      return checkpoint_queues(stamp);
    case Checkpoint::Phase::entries:
      return checkpoint_entries(stamp);
    case Checkpoint::Phase::deleted:
      return checkpoint_deleted(stamp);
    case Checkpoint::Phase::messages:
      return checkpoint_messages(stamp);
    case Checkpoint::Phase::archived:
      return checkpoint_archived(stamp);
    case Checkpoint::Phase::errors:
      return checkpoint_errors(stamp);
    case Checkpoint::Phase::dedup:
      return checkpoint_dedup(stamp);
    case Checkpoint::Phase::attempts:
      return checkpoint_attempts(stamp);
    case Checkpoint::Phase::codes:
      return checkpoint_codes(stamp);
    case Checkpoint::Phase::messages_ended: {
      const Change ended = queue::CheckpointMessagesEnded{};
      append(stamp, std::span(&ended, 1));
      return enter_phase(Checkpoint::Phase::counts);
    }
    case Checkpoint::Phase::counts:
      return checkpoint_counts(stamp);
    case Checkpoint::Phase::syncing:
      if (journal_->synced() < checkpoint_.end) return;
      publish_.store(checkpoint_.begin);
      last_checkpoint_bytes_ = checkpoint_.bytes;
      checkpoint_ = {};
  }
}

void Store::enter_phase(Checkpoint::Phase phase) {
  checkpoint_.phase = phase;
  checkpoint_.after = {};
}

Result<void> Store::publish_checkpoint() {
  const journal::Sequence begin = publish_.exchange(0);
  if (begin == 0) return {};
  return journal_->set_checkpoint(begin);
}

// A record must fit in a segment: a queue with its policies and tags takes at most 270 KiB, a fact
// without a bound of its own at most 1 KiB.
std::size_t Store::facts_per_record(std::size_t fact_bytes_max) const {
  return std::clamp<std::size_t>(
      journal_->payload_bytes_max() / fact_bytes_max, 1, kMessagesPerSlice);
}

void Store::flush_snapshot(const Stamp& stamp, std::size_t from) {
  if (snapshot_.size() < std::max<std::size_t>(from, 1)) return;
  state_.count_work(snapshot_.size());
  append(stamp, snapshot_);
  snapshot_.clear();
}

void Store::begin_checkpoint(const Stamp& stamp) {
  checkpoint_ = {.phase = Checkpoint::Phase::names};
  const Change begun =
      queue::CheckpointBegun{.last_key = state_.last_key(),
                             .last_queue = state_.last_queue(),
                             .last_task = state_.last_task(),
                             .name_count = static_cast<std::uint32_t>(state_.names().size()),
                             .secret = state_.secret(),
                             .last_error = state_.errors().last(),
                             .last_group = state_.last_group()};
  checkpoint_.begin =
      journal_->append_checkpoint_begin(encoder_.encode(stamp, std::span(&begun, 1))).sequence;
}

// Names learned from now on are in the log.
void Store::checkpoint_names(const Stamp& stamp) {
  const auto& names = state_.names();
  const std::size_t facts_max = facts_per_record(kSmallFactBytes);
  for (; checkpoint_.name < names.size() && snapshot_.size() < facts_max; ++checkpoint_.name) {
    snapshot_.push_back(queue::NameLearned{static_cast<queue::NameIndex>(checkpoint_.name),
                                           names[checkpoint_.name]});
  }
  flush_snapshot(stamp, 1);
  if (checkpoint_.name == names.size()) enter_phase(Checkpoint::Phase::queues);
}

// Until a queue's own snapshot is read, replay ignores facts about the queue and its messages: the
// messages, deduplication ids and attempts are written after all queues.
void Store::checkpoint_queues(const Stamp& stamp) {
  const auto& queues = state_.queues();
  const std::size_t facts_max = facts_per_record(kQueueFactBytes);
  std::size_t bytes = 0;
  auto at = queues.upper_bound(checkpoint_.after);
  for (; at != queues.end() && bytes < kSnapshotBytesPerSlice; ++at) {
    const queue::Queue& queue = *at->second;
    snapshot_.push_back(queue::QueueSnapshot{
        .created = {queue.key, queue.arn, queue.identity, queue.settings, queue.tags},
        .created_wall = queue.created_wall,
        .modified_wall = queue.modified_wall,
        .purged_at = queue.purged_at});
    flush_snapshot(stamp, facts_max);
    if (!queue.processed.empty()) {
      snapshot_.push_back(queue::ProcessedCounted{queue.key, queue.processed});
      flush_snapshot(stamp, facts_max);
    }
    bytes += snapshot_bytes(queue);
    checkpoint_.after = at->first;
  }
  flush_snapshot(stamp, 1);
  if (at == queues.end()) enter_phase(Checkpoint::Phase::entries);
}

void Store::checkpoint_entries(const Stamp& stamp) {
  const auto& entries = state_.entries();
  const std::size_t facts_max = facts_per_record(kQueueFactBytes);
  std::size_t bytes = 0;
  auto at = entries.upper_bound(checkpoint_.entry);
  for (; at != entries.end() && bytes < kSnapshotBytesPerSlice; ++at) {
    snapshot_.push_back(queue::EntryPut{at->first.first, at->first.second, at->second});
    flush_snapshot(stamp, facts_max);
    bytes += kSmallFactBytes + at->first.second.size() + at->second.size();
    checkpoint_.entry = at->first;
  }
  flush_snapshot(stamp, 1);
  if (at == entries.end()) enter_phase(Checkpoint::Phase::deleted);
}

void Store::checkpoint_deleted(const Stamp& stamp) {
  const auto& deleted = state_.deleted();
  const std::size_t facts_max = facts_per_record(kSmallFactBytes);
  auto at = deleted.upper_bound(checkpoint_.after);
  for (; at != deleted.end() && snapshot_.size() < facts_max; ++at) {
    snapshot_.push_back(queue::DeletedNameSnapshot{at->first, at->second});
    checkpoint_.after = at->first;
  }
  flush_snapshot(stamp, 1);
  if (at == deleted.end()) enter_phase(Checkpoint::Phase::messages);
}

void Store::checkpoint_messages(const Stamp& stamp) {
  const auto& messages = state_.messages();
  const Slot end = std::min(messages.end(), checkpoint_.slot + kSlotsPerSlice);
  queue::WaitingSnapshot waiting;
  waiting.messages.reserve(std::min<std::size_t>(end - checkpoint_.slot, messages.size()));
  std::size_t bytes_left = facts_per_record(kMessageFactBytes) * kMessageFactBytes;
  for (; checkpoint_.slot < end; ++checkpoint_.slot) {
    const Slot slot = checkpoint_.slot;
    const queue::Message& message = messages[slot];
    if (message.key == MessageKey::none || state_.is_buried(slot)) continue;
    const bool as_sent = waits_as_sent(message);
    const std::size_t bytes = as_sent ? kWaitingMessageBytesMax : kMessageFactBytes;
    if (bytes_left < bytes) break;
    bytes_left -= bytes;
    if (as_sent) {
      waiting.messages.push_back({.key = message.key,
                                  .queue = state_.queue_of(slot),
                                  .body = message.body,
                                  .visible_at = message.visible_at,
                                  .sent_at = message.sent_at,
                                  .lineage_mark = message.lineage_mark});
      continue;
    }
    snapshot_.push_back(queue::MessageSnapshot{.key = message.key,
                                               .queue = state_.queue_of(slot),
                                               .body = message.body,
                                               .visible_at = state_.visible_at(slot),
                                               .sent_at = message.sent_at,
                                               .receive_count = message.receive_count,
                                               .phase = static_cast<std::uint8_t>(message.phase),
                                               .visibility_touched = message.visibility_touched,
                                               .group = state_.group_of(slot),
                                               .history = messages.history_if(slot),
                                               .restored = nullptr,
                                               .lineage_mark = message.lineage_mark});
  }
  checkpoint_.bytes += waiting.messages.size() * kWaitingCountsMore;
  if (!waiting.messages.empty()) snapshot_.push_back(std::move(waiting));
  flush_snapshot(stamp, 1);
  if (checkpoint_.slot >= messages.end()) enter_phase(Checkpoint::Phase::archived);
}

// After the messages: a message archived while those were written is either among them or here.
void Store::checkpoint_archived(const Stamp& stamp) {
  const auto& entries = state_.archived().entries();
  auto at = entries.upper_bound(checkpoint_.archived);
  for (; at != entries.end() && snapshot_.size() < facts_per_record(kArchivedFactBytes); ++at) {
    snapshot_.push_back(queue::ArchivedSnapshot{
        .sequence = at->first, .archived = &at->second, .restored = nullptr});
    checkpoint_.archived = at->first;
  }
  flush_snapshot(stamp, 1);
  if (at == entries.end()) enter_phase(Checkpoint::Phase::errors);
}

// The error texts that messages refer to. Errors without references belonged to messages that are
// gone; errors learned since the checkpoint began are in the log.
void Store::checkpoint_errors(const Stamp& stamp) {
  const auto& entries = state_.errors().entries();
  auto at = entries.upper_bound(checkpoint_.error);
  for (; at != entries.end() && snapshot_.size() < facts_per_record(kErrorFactBytes); ++at) {
    snapshot_.push_back(queue::ErrorLearned{at->first, at->second.text});
    checkpoint_.error = at->first;
  }
  flush_snapshot(stamp, 1);
  if (at == entries.end()) enter_phase(Checkpoint::Phase::dedup);
}

void Store::checkpoint_dedup(const Stamp& stamp) {
  const auto& queues = state_.queues();
  auto at = queues.upper_bound(checkpoint_.after);
  std::size_t looks = 0;
  // For a queue created since the checkpoint began, accepted ids are in the log.
  for (; at != queues.end() && at->second->dedup.size() == 0; ++at) {
    if (++looks > kQueuesPerSlice) return;
    checkpoint_.after = at->first;
  }
  if (at == queues.end()) return enter_phase(Checkpoint::Phase::attempts);
  const queue::Queue& current = *at->second;
  auto& position = checkpoint_.dedup_position;
  if (current.key != checkpoint_.dedup_queue) position = 0;
  checkpoint_.dedup_queue = current.key;
  position = std::max(position, current.dedup.first());
  const std::size_t facts_max = facts_per_record(kSmallFactBytes);
  for (; position < current.dedup.last() && snapshot_.size() < facts_max; ++position) {
    const auto& [id, entry] = current.dedup.at(position);
    snapshot_.push_back(
        queue::DedupSnapshot{current.key, id, entry.expires, entry.message_id, entry.sequence});
  }
  const bool queue_done = position >= current.dedup.last();
  flush_snapshot(stamp, 1);
  if (queue_done) checkpoint_.after = at->first;
}

// Receive attempts refer to messages, so they are written after all messages.
void Store::checkpoint_attempts(const Stamp& stamp) {
  const auto& queues = state_.queues();
  const std::size_t facts_max = facts_per_record(kSmallFactBytes);
  std::size_t looks = 0;
  auto queue = queues.upper_bound(checkpoint_.after);
  for (; queue != queues.end() && ++looks <= kQueuesPerSlice; ++queue) {
    const auto& attempts = queue->second->receive_attempts;
    auto at = attempts.upper_bound(checkpoint_.attempt);
    for (; at != attempts.end() && snapshot_.size() < facts_max; ++at) {
      snapshot_.push_back(queue::AttemptSnapshot{
          queue->second->key, at->first, at->second.expires, at->second.messages});
      checkpoint_.attempt = at->first;
    }
    if (at != attempts.end()) break;
    checkpoint_.attempt.clear();
    checkpoint_.after = queue->first;
  }
  flush_snapshot(stamp, 1);
  if (queue == queues.end()) enter_phase(Checkpoint::Phase::codes);
}

void Store::checkpoint_deploys(const Stamp& stamp) {
  const auto& deploys = state_.deploys();
  auto at = deploys.upper_bound(checkpoint_.deployed);
  for (; at != deploys.end() && snapshot_.size() < facts_per_record(kSmallFactBytes); ++at) {
    snapshot_.push_back(queue::CodeDeployed{at->first, at->second});
    checkpoint_.deployed = at->first;
  }
  flush_snapshot(stamp, 1);
}

// Queues count which code processed their messages. All messages have been written by now, so
// replay counts what happens from here on.
void Store::checkpoint_codes(const Stamp& stamp) {
  const auto& deploys = state_.deploys();
  if (deploys.upper_bound(checkpoint_.deployed) != deploys.end()) return checkpoint_deploys(stamp);
  const auto& queues = state_.queues();
  const std::size_t facts_max = facts_per_record(kGroupFactBytes);
  std::size_t looks = 0;
  auto at = queues.upper_bound(checkpoint_.after);
  for (; at != queues.end() && ++looks <= kQueuesPerSlice && snapshot_.size() < facts_max; ++at) {
    const queue::Queue& queue = *at->second;
    if (!queue.codes.empty()) snapshot_.push_back(state_.snapshot(queue.codes, queue.key));
    checkpoint_.after = at->first;
  }
  flush_snapshot(stamp, 1);
  if (at == queues.end()) enter_phase(Checkpoint::Phase::messages_ended);
}

// What has expired or was purged must be counted before the counts are written. Whether all is.
bool Store::catch_up(const Stamp& stamp) {
  const std::uint64_t before = state_.work();
  while (queue::Queue* const late = state_.next_expiring(stamp.now)) {
    state_.advance(*late, stamp.now);
    if (late->is_behind() || state_.work() - before > kMessagesPerSlice) break;
  }
  return state_.is_settled(stamp.now);
}

// Jobs, groups and rules, those of one queue in one step: a group that makes room for another, or a
// job for a new one, is found among all of its queue. Replay passes over what happens to them
// before their queue has come.
void Store::checkpoint_counts(const Stamp& stamp) {
  if (!catch_up(stamp)) return;
  const std::uint64_t before = state_.work();
  const QueueKey former = checkpoint_.counted;
  QueueKey next = state_.next_counting(former);
  for (; next != QueueKey::none && state_.work() - before < kMessagesPerSlice;
       next = state_.next_counting(next)) {
    snapshot_counts(stamp, next);
    flush_snapshot(stamp, 1);
    checkpoint_.counted = next;
  }
  if (checkpoint_.counted != former) {
    const Change counted = queue::CheckpointCounted{checkpoint_.counted};
    append(stamp, std::span(&counted, 1));
  }
  if (next == QueueKey::none) end_checkpoint(stamp);
}

void Store::snapshot_counts(const Stamp& stamp, QueueKey queue) {
  for (const queue::TaskKey key : state_.tasks_of(queue)) {
    const queue::MoveTask& task = *state_.find_task(key);
    snapshot_.push_back(queue::TaskSnapshot{.started = {key,
                                                        task.id,
                                                        task.source,
                                                        task.source_arn,
                                                        task.destination_arn,
                                                        task.rate,
                                                        task.to_move,
                                                        task.plan},
                                            .status = task.status,
                                            .counts = task.counts,
                                            .forgiven = task.forgiven,
                                            .stage = task.stage,
                                            .started_wall = task.started_wall,
                                            .ended_wall = task.ended_wall,
                                            .failure = task.failure});
    flush_snapshot(stamp, facts_per_record(kTaskFactBytes));
  }
  flush_snapshot(stamp, 1);
  for (const queue::FailureGroup* group : state_.groups_in(queue)) {
    snapshot_.push_back(queue::GroupSnapshot{.learned = {group->key, queue, group->identity},
                                             .status = group->status,
                                             .note = group->note,
                                             .marked_by = group->marked_by,
                                             .arrivals = &group->arrivals,
                                             .owner = group->owner,
                                             .ignored_until = group->ignored_until,
                                             .ignored_to_total = group->ignored_to_total});
    flush_snapshot(stamp, facts_per_record(kGroupFactBytes));
    if (group->codes.empty()) continue;
    snapshot_.push_back(state_.snapshot(group->codes, queue, group->key));
    flush_snapshot(stamp, facts_per_record(kGroupFactBytes));
  }
  flush_snapshot(stamp, 1);
  for (const queue::GroupRule& rule : state_.group_rules_of(queue)) {
    snapshot_.push_back(queue::GroupRuled{queue, rule});
    flush_snapshot(stamp, facts_per_record(kGroupFactBytes));
  }
}

void Store::end_checkpoint(const Stamp& stamp) {
  const Change ended = queue::CheckpointEnded{};
  checkpoint_.end =
      journal_->append_checkpoint_end(encoder_.encode(stamp, std::span(&ended, 1))).sequence;
  checkpoint_.phase = Checkpoint::Phase::syncing;
  // The next checkpoint must fit in the reserve that is left when the disk is full.
  const auto segments = checkpoint_.bytes * 5 / 4 / journal_->payload_bytes_max();
  journal_->set_spare_target(kSparesMin + static_cast<std::uint32_t>(segments));
}

void Store::choose_victims() {
  std::uint64_t garbage = 0;
  std::uint64_t used = 0;
  std::vector<std::uint32_t> victims;
  for (const auto& use : journal_->usage()) {
    used += use.used_bytes;
    if (use.active || !use.before_checkpoint || use.held_bytes == 0) continue;
    if (not_compactable_.contains(use.segment)) continue;
    if (use.held_bytes * 2 > use.used_bytes) continue;
    garbage += use.used_bytes - use.held_bytes;
    victims.push_back(use.segment);
  }
  if (garbage < std::min(kGarbageBytesMin, std::uint64_t{8} * journal_->payload_bytes_max()) ||
      garbage * 4 < used)
    return;
  compaction_ = {.victims = std::move(victims)};
}

std::vector<Store::Relocation> Store::choose_relocations() {
  std::vector<Relocation> chosen;
  if (compaction_.victims.empty()) choose_victims();
  if (compaction_.victims.empty()) return chosen;
  const auto& messages = state_.messages();
  std::uint64_t bytes = 0;
  const std::uint64_t bytes_max =
      std::min<std::uint64_t>(kRelocationBytesPerSlice, journal_->payload_bytes_max() / 4);
  const Slot end = std::min<Slot>(messages.end(), compaction_.slot + 8 * kSlotsPerSlice);
  for (; compaction_.slot < end; ++compaction_.slot) {
    if (chosen.size() == kRelocationsPerSlice || bytes > bytes_max) return chosen;
    const queue::Message& message = messages[compaction_.slot];
    if (message.key == MessageKey::none || state_.is_buried(compaction_.slot)) continue;
    if (!std::ranges::binary_search(compaction_.victims, message.body.segment)) continue;
    journal_->pin(message.body.segment);
    chosen.push_back({.key = message.key, .from = message.body, .stored = {}});
    bytes += message.body.size;
  }
  if (compaction_.slot >= messages.end()) compaction_ = {};
  return chosen;
}

void Store::relocate(const Stamp& stamp, std::vector<Relocation>& relocations) {
  std::vector<Change> changes;
  for (const Relocation& relocation : relocations) {
    const Slot slot = state_.messages().find(relocation.key);
    const bool still_there =
        slot != queue::kNoSlot && state_.messages()[slot].body == relocation.from;
    if (still_there && !relocation.stored.empty()) {
      changes.push_back(
          queue::MessageRelocated{.key = relocation.key, .stored = relocation.stored, .body = {}});
    }
  }
  if (!changes.empty()) commit(stamp, changes);
  for (const Relocation& relocation : relocations) journal_->unpin(relocation.from.segment);
}

}  // namespace redrive::store
