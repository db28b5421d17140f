#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/journal/journal.h"
#include "core/queue/state.h"
#include "core/store/change_codec.h"
#include "core/store/message_codec.h"

namespace redrive::store {

struct StoreOptions {
  // A checkpoint is due when this many bytes have been appended since the last one began, or three
  // times the size of that one, whichever is more.
  std::uint64_t checkpoint_bytes_min = 64u << 20;
  // Or when the log since then spans this many segments (many restarts).
  std::uint32_t checkpoint_segments = 16;
};

// The live state and its journal, kept in step: `commit` records facts and applies them in one
// step; opening replays them. All calls on the engine's turn, except `read`.
class Store final : public queue::BodyLedger {
 public:
  explicit Store(const StoreOptions& options = {});

  // For open_journal: replays one record.
  Result<void> replay(journal::Location at, std::string_view payload);
  // Ends the replay: new facts go to this journal. Fails if the bytes of a live message are missing
  // from it.
  Result<void> attach(journal::Journal& journal);

  queue::State& state() { return state_; }
  const queue::State& state() const { return state_; }
  // Segments in which the replay found damaged messages.
  const std::set<std::uint32_t>& damaged_segments() const { return damaged_segments_; }
  // The last timestamp in the journal, for computing how long the server was down.
  const queue::Stamp& last_stamp() const { return last_stamp_; }

  // Records the facts as one operation and applies them. BodyRefs of sent messages are filled in.
  journal::Sequence commit(const queue::Stamp& stamp, std::span<queue::Change> changes);

  // Reads a message's stored bytes (body.size) to `out`. Thread-safe while the segment is pinned.
  Result<void> read(const queue::BodyRef& body, char* out) const {
    return journal_->read({body.segment, body.offset}, body.size, out);
  }
  Result<void> read_many(std::span<const journal::Journal::Wanted> wanted) const {
    return journal_->read_many(wanted);
  }

  // Reads and verifies a message that views `bytes`. If verification fails, it is read once more
  // directly from disk. storage_damaged: these are not the bytes of this message; the error text is
  // one of a few fixed ones. Other errors may be transient.
  Result<StoredMessage> read_message(queue::MessageKey key, const queue::BodyRef& body,
                                     std::string& bytes) const;

  // Runs one slice of background work: checkpoints, and freeing the messages of purged and deleted
  // queues. Returns true while there is more to do right away.
  bool maintain(const queue::Stamp& stamp);
  // Call outside the engine's turn, after maintain: writes the manifest once a checkpoint is
  // durable.
  Result<void> publish_checkpoint();
  bool checkpointing() const { return checkpoint_.phase != Checkpoint::Phase::idle; }

  // Compaction, split so that reading does not hold the turn: choose on the turn, read outside it,
  // relocate on the turn.
  struct Relocation {
    queue::MessageKey key;
    queue::BodyRef from;
    std::string stored;
  };
  std::vector<Relocation> choose_relocations();
  // Excludes a segment from compaction because a message in it could not be read; a retry would
  // fail too.
  void give_up_on(std::uint32_t segment) { not_compactable_.insert(segment); }
  void relocate(const queue::Stamp& stamp, std::vector<Relocation>& relocations);

  void hold(const queue::BodyRef& body) override;
  void let_go(const queue::BodyRef& body) override;
  void pin(const queue::BodyRef& body) { journal_->pin(body.segment); }
  void unpin(const queue::BodyRef& body) { journal_->unpin(body.segment); }

 private:
  struct Checkpoint {
    enum class Phase {
      idle,
      names,
      queues,
      entries,
      deleted,
      messages,
      archived,
      errors,
      dedup,
      attempts,
      codes,
      messages_ended,
      counts,
      syncing
    };
    Phase phase = Phase::idle;
    journal::Sequence begin = 0;
    journal::Sequence end = 0;
    std::uint64_t bytes = 0;  // As if each message had a fact of its own.
    std::size_t name = 1;
    queue::QueueIdentity after;  // The last queue written, in phases that iterate over queues.
    std::pair<queue::EntryKind, std::string> entry;
    std::string attempt;   // The last one written of the current queue.
    std::string deployed;  // The last function whose deploys were written.
    queue::Slot slot = 0;
    std::uint64_t archived = 0;  // Sequence of the last one written.
    queue::ErrorKey error = queue::ErrorKey::none;
    queue::QueueKey dedup_queue = queue::QueueKey::none;
    std::uint64_t dedup_position = 0;
    queue::QueueKey counted = queue::QueueKey::none;  // The last queue of this phase.
  };
  struct Compaction {
    std::vector<std::uint32_t> victims;  // Sorted segment numbers.
    queue::Slot slot = 0;
  };

  bool checkpoint_due() const;
  void begin_checkpoint(const queue::Stamp& stamp);
  void continue_checkpoint(const queue::Stamp& stamp);
  void enter_phase(Checkpoint::Phase phase);
  void checkpoint_names(const queue::Stamp& stamp);
  void checkpoint_queues(const queue::Stamp& stamp);
  void checkpoint_entries(const queue::Stamp& stamp);
  void checkpoint_deleted(const queue::Stamp& stamp);
  void checkpoint_messages(const queue::Stamp& stamp);
  void checkpoint_archived(const queue::Stamp& stamp);
  void checkpoint_errors(const queue::Stamp& stamp);
  void checkpoint_dedup(const queue::Stamp& stamp);
  void checkpoint_counts(const queue::Stamp& stamp);
  bool catch_up(const queue::Stamp& stamp);
  void snapshot_counts(const queue::Stamp& stamp, queue::QueueKey queue);
  void checkpoint_attempts(const queue::Stamp& stamp);
  void checkpoint_deploys(const queue::Stamp& stamp);
  void checkpoint_codes(const queue::Stamp& stamp);
  void end_checkpoint(const queue::Stamp& stamp);
  journal::Appended append(const queue::Stamp& stamp, std::span<const queue::Change> changes);
  std::size_t facts_per_record(std::size_t fact_bytes_max) const;
  // Writes the facts collected for a checkpoint if there are at least `from`.
  void flush_snapshot(const queue::Stamp& stamp, std::size_t from);
  void choose_victims();

  StoreOptions options_;
  queue::State state_;
  journal::Journal* journal_ = nullptr;
  queue::Stamp last_stamp_{};
  RecordEncoder encoder_;
  Checkpoint checkpoint_;
  std::uint64_t last_checkpoint_bytes_ = 0;
  std::atomic<journal::Sequence> publish_{
      0};  // Start of a durable checkpoint whose manifest is not written yet.
  std::vector<queue::Change> snapshot_;
  Compaction compaction_;
  std::set<std::uint32_t> damaged_segments_;
  std::set<std::uint32_t> not_compactable_;  // Segments with unreadable messages.
  bool let_go_since_record_ = false;
  std::vector<std::int64_t> replayed_holds_;  // Held bytes by segment, until a journal is attached.
};

}  // namespace redrive::store
