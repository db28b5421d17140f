#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "journal/journal.h"
#include "queue/state.h"
#include "store/change_codec.h"
#include "store/message_codec.h"

namespace redrive::store {

struct StoreOptions {
  // A checkpoint is due when this many bytes were appended since the last one began, or three times
  // what that one took, whichever is more.
  std::uint64_t checkpoint_bytes_min = 64u << 20;
  std::uint32_t checkpoint_segments =
      16;  // Or when the log since then spans this many segments (many restarts).
};

// The live state and the journal under it, kept equal: `commit` records facts and applies them in
// one step; opening replays them. All calls on the engine's turn, except `read`.
class Store final : public queue::BodyLedger {
 public:
  explicit Store(const StoreOptions& options = {});

  // For open_journal: feeds one record of the past.
  Result<void> replay(journal::Location at, std::string_view payload);
  // Ends the replay: from now on facts go to this journal. Fails when it lacks bytes of a live
  // message.
  Result<void> attach(journal::Journal& journal);

  queue::State& state() { return state_; }
  const queue::State& state() const { return state_; }
  // Segments in which the replay has come across damaged messages.
  const std::set<std::uint32_t>& damaged_segments() const { return damaged_segments_; }
  // The latest moment in the journal, for telling how long the server was away.
  const queue::Stamp& last_stamp() const { return last_stamp_; }

  // Records the facts as one operation and applies them. BodyRefs of sent messages are filled in.
  journal::Sequence commit(const queue::Stamp& stamp, std::span<queue::Change> changes);

  // A message's stored bytes, body.size of them, to `out`. From any thread while the segment is
  // pinned.
  Result<void> read(const queue::BodyRef& body, char* out) const {
    return journal_->read({body.segment, body.offset}, body.size, out);
  }
  Result<void> read_many(std::span<const journal::Journal::Wanted> wanted) const {
    return journal_->read_many(wanted);
  }

  // The same, checked, as a message that views `bytes`. What turns out to be wrong is read once
  // more from the disk itself. storage_damaged: these are not the bytes of this message, and the
  // error says in a few fixed words what is wrong with them. Other errors may pass.
  Result<StoredMessage> read_message(queue::MessageKey key, const queue::BodyRef& body,
                                     std::string& bytes) const;

  // One slice of background work: checkpoints and burying. True while there is more to do at once.
  bool maintain(const queue::Stamp& stamp);
  // Call outside the engine's turn, after maintain: writes the manifest once a checkpoint is
  // durable.
  Result<void> publish_checkpoint();
  bool checkpointing() const { return checkpoint_.phase != Checkpoint::Phase::idle; }

  // Compaction in two steps, as reading takes time: choose on the turn, read outside it, move on
  // the turn.
  struct Relocation {
    queue::MessageKey key;
    queue::BodyRef from;
    std::string stored;
  };
  std::vector<Relocation> choose_relocations();
  // What a relocation could not read stays where it is, and so its segment is left alone from now
  // on: trying again would bring nothing.
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
      counts,
      syncing
    };
    Phase phase = Phase::idle;
    journal::Sequence begin = 0;
    journal::Sequence end = 0;
    std::uint64_t bytes = 0;  // With every message as a fact of its own.
    std::size_t name = 1;
    queue::QueueIdentity after;  // The last queue written in phases that go by queues.
    std::pair<queue::EntryKind, std::string> entry;
    std::string attempt;   // The last one written of the next queue.
    std::string deployed;  // The last function whose deploys were written.
    queue::Slot slot = 0;
    std::uint64_t archived = 0;  // The place of the last one written.
    queue::ErrorKey error = queue::ErrorKey::none;
    queue::QueueKey dedup_queue = queue::QueueKey::none;
    std::uint64_t dedup_position = 0;
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
  void checkpoint_attempts(const queue::Stamp& stamp);
  void checkpoint_deploys(const queue::Stamp& stamp);
  void checkpoint_codes(const queue::Stamp& stamp);
  void end_checkpoint(const queue::Stamp& stamp);
  journal::Appended append(const queue::Stamp& stamp, std::span<const queue::Change> changes);
  std::size_t facts_per_record(std::size_t fact_bytes_max) const;
  // Writes the facts gathered for a checkpoint if there are at least that many.
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
      0};  // Begin of a durable checkpoint waiting for its manifest.
  std::vector<queue::Change> snapshot_;
  Compaction compaction_;
  std::set<std::uint32_t> damaged_segments_;
  std::set<std::uint32_t> not_compactable_;  // Segments with bytes that cannot be moved.
  bool let_go_since_record_ = false;
  std::vector<std::int64_t> replayed_holds_;  // By segment, while there is no journal to tell.
};

}  // namespace redrive::store
