#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/journal/files.h"

namespace redrive::journal {

// The number of a record: 1, 2, 3, … over the lifetime of the journal.
using Sequence = std::uint64_t;

// Position of payload bytes. Segments are numbered 1, 2, 3, …; a number is never reused, although
// the file may be.
struct Location {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;

  friend auto operator<=>(const Location&, const Location&) = default;
};

struct Appended {
  Sequence sequence;
  Location payload;  // Position of the first payload byte.
};

struct Options {
  std::uint32_t segment_bytes = 32u << 20;
  std::size_t tail_cache_bytes = 8u << 20;  // Most recent bytes, kept in memory for readers.
  // Prepared in advance; also the reserve that lets deletes go on when the disk is full.
  std::uint32_t spare_segments = 2;
  // Free segments kept for reuse (512 MiB).
  std::uint32_t recycled_segments_max = 16;
};

// Result of recovery. `truncated` is set if the unsynced end of the last segment was torn.
struct Recovered {
  Sequence last_sequence = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::string truncated;        // Empty, or a sentence for the log with file and offset.
  std::uint64_t explained = 0;  // Records that are intact except for known parts; see Explain.
};

// Called for every record from the last checkpoint on, in order. An error stops recovery.
using Replay =
    std::function<Result<void>(Sequence, Location payload, std::string_view payload_bytes)>;

// Part of a payload, and the CRC-32C of its original content.
struct Stretch {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::uint32_t crc = 0;
};
// Called with the payload of a durable record whose checksum does not match. Returns, in order, the
// parts that have a checksum of their own and fail it. If the record's checksum is correct with the
// original checksums of those parts, everything else in it is intact, and the record is replayed as
// it is.
using Explain = std::function<std::vector<Stretch>(std::string_view payload_bytes)>;

// An append-only log in recycled segments. docs/formats/journal.md describes its format.
//
// The journal does not interpret records. Its owner provides three things: records (append), which
// segments still contain needed bytes (hold/let_go), and the record from which a replay rebuilds
// everything (set_checkpoint). A segment is recycled when no bytes in it are held and it ends
// before the checkpoint.
//
// Threads: `append` and the accounting calls are made by one thread at a time (the engine's turn),
// `sync_once` by one other, `read` by any.
class Journal {
 public:
  virtual ~Journal() = default;

  // Appends one record whose payload is the concatenation of `parts`. It can be read at once and is
  // durable when synced() reaches its sequence. Does no I/O. The payload must not exceed
  // payload_bytes_max().
  virtual Appended append(std::span<const std::string_view> parts) = 0;
  Appended append(std::string_view payload) { return append(std::span(&payload, 1)); }
  // The same for the first and the last record of a checkpoint. Replay ignores the record kind;
  // repair uses it to find a starting point when the manifest is lost.
  virtual Appended append_checkpoint_begin(std::span<const std::string_view> parts) = 0;
  virtual Appended append_checkpoint_end(std::span<const std::string_view> parts) = 0;
  virtual std::size_t payload_bytes_max() const = 0;

  // Reads payload bytes. Thread-safe, provided the segment is held or pinned.
  virtual Result<void> read(Location from, std::size_t size, char* out) = 0;
  // Reads from disk, bypassing all caches: for bytes that turned out to be wrong, to distinguish a
  // bad copy from damage. Fails with storage_damaged if the disk does not have them.
  virtual Result<void> read_afresh(Location from, std::size_t size, char* out) {
    return read(from, size, out);
  }
  struct Wanted {
    Location from;
    std::size_t size = 0;
    char* out = nullptr;
  };
  // Reads several ranges, with fewer system calls where they are close together. After an error any
  // of the outputs may be incomplete.
  virtual Result<void> read_many(std::span<const Wanted> wanted) {
    for (const Wanted& one : wanted) RETURN_IF_ERROR(read(one.from, one.size, one.out));
    return {};
  }

  virtual Sequence appended() const = 0;  // The last sequence assigned.
  virtual Sequence synced() const = 0;    // All records up to this one are durable.

  // Writes and syncs everything appended before the call and returns the new synced(). An error is
  // final: nothing more may be acknowledged, and the process should exit.
  virtual Result<Sequence> sync_once() = 0;

  // Counts `bytes` of this segment as needed (a live message's record). After a start, the owner
  // must call it again for everything it needs, before the first housekeep().
  virtual void hold(std::uint32_t segment, std::uint32_t bytes) = 0;
  // Undoes hold(). The segment is recycled only after a record appended later is durable, because
  // after a crash the bytes may be needed again. (A later record, because the bytes may have been
  // released by the passage of time, which only the next record's timestamp makes durable.)
  virtual void let_go(std::uint32_t segment, std::uint32_t bytes) = 0;
  // Whether the segment exists. A segment older than the checkpoint may be missing from the disk
  // without recovery noticing.
  virtual bool has_segment(std::uint32_t segment) const = 0;

  // Declares that a replay from the record `begin`, returned by append_checkpoint_begin, rebuilds
  // everything. Call it once the last record of the checkpoint is synced. Does no I/O: housekeep()
  // writes the manifest before it recycles any segment because of it.
  virtual Result<void> set_checkpoint(Sequence begin) = 0;

  // Prevents the segment from being recycled while it is read. Cheap. Call pin() on the engine's
  // turn; unpin() is thread-safe.
  virtual void pin(std::uint32_t segment) = 0;
  virtual void unpin(std::uint32_t segment) = 0;

  // Slow maintenance off the hot path: writes the manifest, recycles and removes segments, prepares
  // spares. Thread-safe; excludes sync_once(), so each call does only a little. Returns true if
  // there is more to do. A full disk is not an error (see has_room()); an error is final.
  virtual Result<bool> housekeep() = 0;

  // False while the disk is full and only the reserve is left: operations that grow the journal for
  // long must be refused.
  virtual bool has_room() const = 0;
  // Number of spare segments to keep, so that the owner's next checkpoint fits in the reserve.
  virtual void set_spare_target(std::uint32_t segments) = 0;

  struct SegmentUse {
    std::uint32_t segment;
    std::uint64_t used_bytes;  // Up to the end of its last record.
    std::uint64_t held_bytes;
    bool before_checkpoint;
    bool active;  // Still being appended to.
  };
  virtual std::vector<SegmentUse> usage() const = 0;  // Oldest first, without spares.

  struct Totals {
    std::uint64_t syncs = 0;
    std::uint64_t bytes_appended = 0;
    std::uint64_t bytes_since_checkpoint = 0;  // From the start of the last checkpoint to the end.
    std::uint32_t segments = 0;
    // Including the one in which the checkpoint starts.
    std::uint32_t segments_since_checkpoint = 0;
    std::uint32_t spares = 0;
  };
  virtual Totals totals() const = 0;
};

// Opens a journal, or creates one in an empty directory. Everything from the last checkpoint on is
// replayed before it returns. A foreign, damaged or newer directory is refused without any change
// to it.
Result<std::unique_ptr<Journal>> open_journal(Files& files, const Options& options,
                                              const Replay& replay, Recovered& recovered,
                                              const Explain& explain = {});
// Like open_journal's replay, but read-only: for tools.
Result<Recovered> replay_journal(Files& files, const Replay& replay, const Explain& explain = {});

// A journal in memory only, for `redrive serve --memory`. Segments are freed when nothing in them
// is held.
std::unique_ptr<Journal> memory_journal(const Options& options);

// Calls sync_once in its own thread on request, and `housekeep` when idle.
//
// `request` is cheap while a sync is running: the bytes are included in the next one. A thread that
// would otherwise sleep until the sync is done can call `sync_here` to sync itself and save the
// wake-up, which costs a third of a sync. It acts like `request` if another thread is syncing, or
// if the disk is so slow that the thread is needed for other work.
class SyncThread {
 public:
  struct Hooks {
    std::function<void(Sequence)> on_synced;       // Called in the syncing thread after each sync.
    std::function<void(const Error&)> on_failure;  // Final; expected to end the process.
    // The cost of each sync, for metrics; may be empty.
    std::function<void(std::uint64_t records, std::chrono::nanoseconds taken)> on_measured = {};
  };
  SyncThread(Journal& journal, Hooks hooks);
  ~SyncThread();  // Syncs what is left, then stops the thread.
  SyncThread(const SyncThread&) = delete;
  SyncThread& operator=(const SyncThread&) = delete;

  void request();
  void sync_here();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `redrive journal check`: reports the contents and any damage; read-only.
struct CheckReport {
  bool healthy = true;
  std::vector<std::string> lines;  // Human-readable, one finding each, with file and offset.
};
Result<CheckReport> check_journal(Files& files, const Explain& explain = {});

// `redrive journal repair`: keeps every intact record, replaces damaged ranges, and reports what
// was lost. The originals are kept under *.damaged. Records that Explain accounts for are left as
// they are.
Result<CheckReport> repair_journal(Files& files, const Explain& explain = {});

// Creates an empty segment in place of a missing one that start-up does not replay but whose
// payloads are still referenced: those are lost, and the journal can be opened again.
Result<void> replace_missing_segment(Files& files, std::uint32_t number);

}  // namespace redrive::journal
