// Background work of the store: checkpoints, and moving the last messages out of nearly empty
// segments.

#include <algorithm>
#include <cassert>

#include "store/store.h"

namespace redrive::store {
namespace {

// One slice keeps the engine's turn for some tens of microseconds.
constexpr queue::Slot kSlotsPerSlice = 2048;
constexpr std::size_t kMessagesPerSlice = 512;
constexpr std::size_t kBuriedPerSlice = 1024;
constexpr std::size_t kRelocationsPerSlice = 128;
constexpr std::uint64_t kRelocationBytesPerSlice = 1u << 20;
constexpr std::uint64_t kGarbageBytesMin = 64u << 20;
constexpr std::uint32_t kSparesMin = 2;
constexpr Duration kQuiet{1000};
// Counted from where the last checkpoint begins: of so many bytes one part is itself, and the
// others are what happened since. To write it anew costs the traffic a third of what its own
// records do; to replay more would make the next start slower.
constexpr std::uint64_t kCheckpointTimes = 4;
// What the largest facts of their kind take at most.
constexpr std::size_t kMessageFactBytes = 2 << 10;
constexpr std::size_t kArchivedFactBytes = 4 << 10;
constexpr std::size_t kErrorFactBytes = 8 << 10;
constexpr std::size_t kTaskFactBytes = 72 << 10;
constexpr std::size_t kGroupFactBytes = 8 << 10;
// A message that waits counts as much as if it had a fact of its own: it will have one once it was
// received, so the reserve must have room for that; and to look at all of them takes its time, in
// however few bytes they are written.
constexpr std::size_t kMessageSnapshotBytes = 52;
constexpr std::size_t kWaitingCountsMore = kMessageSnapshotBytes - kWaitingMessageBytesMin;

// Nothing has happened to it since it was sent, so a WaitingSnapshot has all there is to say.
bool waits_as_sent(const queue::Message& message) {
  return message.phase == queue::Phase::visible && message.receive_count == 0 &&
         message.history == 0 && message.group == 0 && !message.visibility_touched;
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
  // Space that was let go comes back once a later record is durable: see that there is one.
  if (let_go_since_record_ && stamp.now >= last_stamp_.now + kQuiet) {
    const Change passed = queue::TimePassed{};
    append(stamp, std::span(&passed, 1));
  }
  switch (checkpoint_.phase) {
    case Checkpoint::Phase::idle:
      if (checkpoint_due()) begin_checkpoint(stamp);
      break;
    case Checkpoint::Phase::messages:
      checkpoint_messages(stamp);
      break;
    case Checkpoint::Phase::archived:
      checkpoint_archived(stamp);
      break;
    case Checkpoint::Phase::errors:
      checkpoint_errors(stamp);
      break;
    case Checkpoint::Phase::dedup:
      checkpoint_dedup(stamp);
      break;
    case Checkpoint::Phase::syncing:
      if (journal_->synced() >= checkpoint_.end) {
        publish_.store(checkpoint_.begin);
        last_checkpoint_bytes_ = checkpoint_.bytes;
        checkpoint_ = {};
      }
      return burying;
  }
  return burying || checkpointing();
}

Result<void> Store::publish_checkpoint() {
  const journal::Sequence begin = publish_.exchange(0);
  if (begin == 0) return {};
  return journal_->set_checkpoint(begin);
}

// A record must fit into a segment: a queue with its policies and tags takes 270 KiB at the most,
// facts without a size of their own above 1 KiB.
std::size_t Store::facts_per_record(std::size_t fact_bytes_max) const {
  return std::clamp<std::size_t>(
      journal_->payload_bytes_max() / fact_bytes_max, 1, kMessagesPerSlice);
}

void Store::flush_snapshot(const Stamp& stamp, std::size_t from) {
  if (snapshot_.size() < std::max<std::size_t>(from, 1)) return;
  append(stamp, snapshot_);
  snapshot_.clear();
}

void Store::begin_checkpoint(const Stamp& stamp) {
  const std::uint64_t before = journal_->totals().bytes_appended;
  checkpoint_ = {.phase = Checkpoint::Phase::messages};
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
  // Names and queues are few and go in at once, so that they are consistent.
  for (std::size_t i = 1; i < state_.names().size(); ++i) {
    snapshot_.push_back(queue::NameLearned{static_cast<queue::NameIndex>(i), state_.names()[i]});
    flush_snapshot(stamp, facts_per_record(1024));
  }
  flush_snapshot(stamp, 1);
  for (const auto& [identity, queue] : state_.queues()) {
    snapshot_.push_back(queue::QueueSnapshot{
        .created = {queue->key, queue->arn, identity, queue->settings, queue->tags},
        .created_wall = queue->created_wall,
        .modified_wall = queue->modified_wall,
        .purged_at = queue->purged_at});
    flush_snapshot(stamp, facts_per_record(270 << 10));
    if (queue->processed.empty()) continue;
    snapshot_.push_back(queue::ProcessedCounted{queue->key, queue->processed});
    flush_snapshot(stamp, facts_per_record(270 << 10));
  }
  flush_snapshot(stamp, 1);
  for (const auto& [entry, value] : state_.entries()) {
    snapshot_.push_back(queue::EntryPut{entry.first, entry.second, value});
    flush_snapshot(stamp, facts_per_record(270 << 10));
  }
  flush_snapshot(stamp, 1);
  for (const auto& [identity, deleted_at] : state_.deleted()) {
    snapshot_.push_back(queue::DeletedNameSnapshot{identity, deleted_at});
    flush_snapshot(stamp, facts_per_record(1024));
  }
  flush_snapshot(stamp, 1);
  checkpoint_.bytes = journal_->totals().bytes_appended - before;
}

void Store::checkpoint_messages(const Stamp& stamp) {
  const std::uint64_t before = journal_->totals().bytes_appended;
  const auto& messages = state_.messages();
  const Slot end = std::min(messages.end(), checkpoint_.slot + kSlotsPerSlice);
  queue::WaitingSnapshot waiting;
  waiting.messages.reserve(std::min<std::size_t>(end - checkpoint_.slot, messages.size()));
  std::size_t room = facts_per_record(kMessageFactBytes) * kMessageFactBytes;
  for (; checkpoint_.slot < end; ++checkpoint_.slot) {
    const Slot slot = checkpoint_.slot;
    const queue::Message& message = messages[slot];
    if (message.key == MessageKey::none || state_.is_buried(slot)) continue;
    const bool as_sent = waits_as_sent(message);
    const std::size_t bytes = as_sent ? kWaitingMessageBytesMax : kMessageFactBytes;
    if (room < bytes) break;
    room -= bytes;
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
                                               .visible_at = message.visible_at,
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
  checkpoint_.bytes += journal_->totals().bytes_appended - before;
  if (checkpoint_.slot >= messages.end()) checkpoint_.phase = Checkpoint::Phase::archived;
}

// Behind the messages: what was archived while those were written is either among them or here.
void Store::checkpoint_archived(const Stamp& stamp) {
  const std::uint64_t before = journal_->totals().bytes_appended;
  const auto& entries = state_.archived().entries();
  auto at = entries.upper_bound(checkpoint_.archived);
  for (; at != entries.end() && snapshot_.size() < facts_per_record(kArchivedFactBytes); ++at) {
    snapshot_.push_back(queue::ArchivedSnapshot{
        .sequence = at->first, .archived = &at->second, .restored = nullptr});
    checkpoint_.archived = at->first;
  }
  flush_snapshot(stamp, 1);
  checkpoint_.bytes += journal_->totals().bytes_appended - before;
  if (at == entries.end()) checkpoint_.phase = Checkpoint::Phase::errors;
}

// The texts that messages refer to. An error that is nobody's any more was of messages that are
// gone; one that was learned since the checkpoint began stands in the log.
void Store::checkpoint_errors(const Stamp& stamp) {
  const std::uint64_t before = journal_->totals().bytes_appended;
  const auto& entries = state_.errors().entries();
  auto at = entries.upper_bound(checkpoint_.error);
  for (; at != entries.end() && snapshot_.size() < facts_per_record(kErrorFactBytes); ++at) {
    snapshot_.push_back(queue::ErrorLearned{at->first, at->second.text});
    checkpoint_.error = at->first;
  }
  flush_snapshot(stamp, 1);
  checkpoint_.bytes += journal_->totals().bytes_appended - before;
  if (at == entries.end()) checkpoint_.phase = Checkpoint::Phase::dedup;
}

void Store::checkpoint_dedup(const Stamp& stamp) {
  const std::uint64_t before = journal_->totals().bytes_appended;
  // Queues in order of their keys; new ones come behind, so none is missed.
  const queue::Queue* current = nullptr;
  for (const auto& [identity, queue] : state_.queues()) {
    if (queue->key < checkpoint_.dedup_queue || queue->dedup.size() == 0) continue;
    if (current == nullptr || queue->key < current->key) current = queue.get();
  }
  if (current == nullptr) return end_checkpoint(stamp);
  if (current->key != checkpoint_.dedup_queue) checkpoint_.dedup_position = 0;
  checkpoint_.dedup_queue = current->key;
  auto& position = checkpoint_.dedup_position;
  position = std::max(position, current->dedup.first());
  const std::size_t facts_max = facts_per_record(1024);
  for (; position < current->dedup.last() && snapshot_.size() < facts_max; ++position) {
    const auto& [id, entry] = current->dedup.at(position);
    snapshot_.push_back(
        queue::DedupSnapshot{current->key, id, entry.expires, entry.message_id, entry.sequence});
  }
  const bool queue_done = position >= current->dedup.last();
  flush_snapshot(stamp, 1);
  checkpoint_.bytes += journal_->totals().bytes_appended - before;
  if (!queue_done) return;
  checkpoint_.dedup_queue = next(current->key);
  position = 0;
}

// Jobs and groups count what becomes of messages, so theirs is the state at the very end.
void Store::checkpoint_counts(const Stamp& stamp) {
  state_.advance_all(stamp.now);
  for (const auto& [key, task] : state_.tasks()) {
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
  for (const auto& [key, group] : state_.groups()) {
    snapshot_.push_back(queue::GroupSnapshot{.learned = {key, group.queue, group.identity},
                                             .status = group.status,
                                             .note = group.note,
                                             .marked_by = group.marked_by,
                                             .arrivals = group.arrivals});
    flush_snapshot(stamp, facts_per_record(kGroupFactBytes));
  }
  flush_snapshot(stamp, 1);
}

// Receive attempts speak of messages, so they come when all of those are there.
void Store::checkpoint_attempts(const Stamp& stamp) {
  for (const auto& [identity, queue] : state_.queues()) {
    for (const auto& [id, attempt] : queue->receive_attempts) {
      snapshot_.push_back(
          queue::AttemptSnapshot{queue->key, id, attempt.expires, attempt.messages});
      flush_snapshot(stamp, facts_per_record(1024));
    }
  }
  flush_snapshot(stamp, 1);
}

void Store::end_checkpoint(const Stamp& stamp) {
  checkpoint_attempts(stamp);
  checkpoint_counts(stamp);
  const Change ended = queue::CheckpointEnded{};
  checkpoint_.end =
      journal_->append_checkpoint_end(encoder_.encode(stamp, std::span(&ended, 1))).sequence;
  checkpoint_.phase = Checkpoint::Phase::syncing;
  // What the next checkpoint will need must fit into the reserve that a full disk leaves.
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
