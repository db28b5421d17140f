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
#include "journal/files.h"

namespace redrive::journal {

// The number of a record: 1, 2, 3, … for the life of the journal.
using Sequence = std::uint64_t;

// Where bytes of a record's payload lie. Segments are numbered 1, 2, 3, …; a number is never
// reused, though the file under it may be.
struct Location {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;

  friend auto operator<=>(const Location&, const Location&) = default;
};

struct Appended {
  Sequence sequence;
  Location payload;  // Of the first payload byte.
};

struct Options {
  std::uint32_t segment_bytes = 32u << 20;
  std::size_t tail_cache_bytes = 8u << 20;  // Recently appended bytes kept in memory for readers.
  // Kept ready, and the reserve that deletes live on when the disk is full.
  std::uint32_t spare_segments = 2;
  // Of those that nobody needs any more, so many are kept for the next rush: 512 MiB.
  std::uint32_t recycled_segments_max = 16;
};

// What recovery found. `truncated` is set when the unsynced end of the last segment was torn.
struct Recovered {
  Sequence last_sequence = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::string truncated;        // Empty, or a sentence for the log: which file, at which offset.
  std::uint64_t explained = 0;  // Records of which only parts are whole, see Explain.
};

// Called for every record from the last checkpoint on, in order. An error stops recovery.
using Replay =
    std::function<Result<void>(Sequence, Location payload, std::string_view payload_bytes)>;

// Part of a payload, and the CRC-32C that it had when it was written.
struct Stretch {
  std::size_t offset = 0;
  std::size_t size = 0;
  std::uint32_t crc = 0;
};
// The owner is asked about the payload of a durable record that does not match its checksum: which
// parts of it have a checksum of their own that they do not match, in order. If the record's
// checksum is right with those, then all the rest of it is whole, and it is replayed as it is.
using Explain = std::function<std::vector<Stretch>(std::string_view payload_bytes)>;

// An append-only log in recycled segments. See docs/formats/journal.md for every byte.
//
// It does not know what a record means. Its owner tells it three things: records (append), which
// segments still hold bytes somebody needs (hold/let_go), and from which record on a replay
// rebuilds everything (set_checkpoint). A segment is recycled when nobody holds bytes in it and it
// ends before the checkpoint.
//
// Threads: `append` and the bookkeeping calls are made by one thread at a time (the engine's turn);
// `sync_once` by one other; `read` by any.
class Journal {
 public:
  virtual ~Journal() = default;

  // Appends one record whose payload is the concatenation of `parts`. It can be read at once and is
  // durable when synced() reaches its sequence. Does no I/O. The payload may not exceed
  // payload_bytes_max().
  virtual Appended append(std::span<const std::string_view> parts) = 0;
  Appended append(std::string_view payload) { return append(std::span(&payload, 1)); }
  // The same for the first and the last record of a checkpoint. The mark changes nothing in a
  // replay; it is what lets repair find a place to start from when the manifest is lost.
  virtual Appended append_checkpoint_begin(std::span<const std::string_view> parts) = 0;
  virtual Appended append_checkpoint_end(std::span<const std::string_view> parts) = 0;
  virtual std::size_t payload_bytes_max() const = 0;

  // Reads payload bytes. From any thread, provided the segment is held or pinned.
  virtual Result<void> read(Location from, std::size_t size, char* out) = 0;
  // The same straight from the disk, past every copy in memory: for bytes that turned out to be
  // wrong, to tell a bad copy from damage. storage_damaged when the disk does not have them.
  virtual Result<void> read_afresh(Location from, std::size_t size, char* out) {
    return read(from, size, out);
  }
  struct Wanted {
    Location from;
    std::size_t size = 0;
    char* out = nullptr;
  };
  // The same for several stretches, in fewer steps where they lie close together. After an error
  // any of them may be missing.
  virtual Result<void> read_many(std::span<const Wanted> wanted) {
    for (const Wanted& one : wanted) CHECK(read(one.from, one.size, one.out));
    return {};
  }

  virtual Sequence appended() const = 0;  // The last sequence given out.
  virtual Sequence synced() const = 0;    // Everything up to here is durable.

  // Writes and syncs all that was appended before the call. Returns what synced() is now. An error
  // is final: nothing more may be acknowledged, the process should end.
  virtual Result<Sequence> sync_once() = 0;

  // `bytes` more, or fewer, bytes of this segment are needed (a live message's record). After a
  // start the owner tells again what it needs, before the first housekeep().
  virtual void hold(std::uint32_t segment, std::uint32_t bytes) = 0;
  // Bytes let go may still be needed after a crash that forgets why: the segment is recycled only
  // when a record appended later is durable. (Later, because what let them go may have been the
  // passing of time, which only the next record's stamp makes durable.)
  virtual void let_go(std::uint32_t segment, std::uint32_t bytes) = 0;
  // Whether the segment is there to be held. One older than the checkpoint may have been lost from
  // the disk without recovery missing it.
  virtual bool has_segment(std::uint32_t segment) const = 0;

  // A replay that starts with the record at `begin`, which append_checkpoint_begin gave, rebuilds
  // everything: call it once the last record of the checkpoint is synced. Does no I/O: housekeep()
  // writes it to the manifest before it recycles any segment on the strength of it.
  virtual Result<void> set_checkpoint(Sequence begin) = 0;

  // Keeps the segment from being recycled while a reader has it. Cheap; made on the engine's turn,
  // ended from any thread.
  virtual void pin(std::uint32_t segment) = 0;
  virtual void unpin(std::uint32_t segment) = 0;

  // Slow chores, off the hot path: writes the manifest, recycles and removes segments, prepares
  // spares. From any thread; it waits for a sync under way, and a sync waits for it, so each call
  // does little. True when there is more to do. A full disk is no error, see has_room(); an error
  // is final.
  virtual Result<bool> housekeep() = 0;

  // False while the disk is full and only the reserve is left: refuse what grows the journal for
  // long.
  virtual bool has_room() const = 0;
  // How many spare segments to keep, as the owner's next checkpoint must fit into the reserve.
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
    std::uint64_t bytes_since_checkpoint = 0;  // From the begin of the last checkpoint to the end.
    std::uint32_t segments = 0;
    std::uint32_t segments_since_checkpoint = 0;  // With the one the checkpoint begins in.
    std::uint32_t spares = 0;
  };
  virtual Totals totals() const = 0;
};

// Opens (or, in an empty directory, starts) a journal. Everything from the last checkpoint on is
// replayed before it returns. Refuses a foreign, damaged or newer directory without changing a byte
// of it.
Result<std::unique_ptr<Journal>> open_journal(Files& files, const Options& options,
                                              const Replay& replay, Recovered& recovered,
                                              const Explain& explain = {});
// Replays the same and changes nothing: for tools.
Result<Recovered> replay_journal(Files& files, const Replay& replay, const Explain& explain = {});

// A journal that forgets: `redrive serve --memory`. Bytes live in memory until nobody holds them.
std::unique_ptr<Journal> memory_journal(const Options& options);

// Calls sync_once in its own thread whenever asked, and `housekeep` when idle.
//
// `request` is cheap when a sync is already running: the bytes ride with the next one. A thread
// that would sleep until the sync is over can do it itself and saves being woken, which costs a
// third of a sync: `sync_here`. It is a `request` when somebody else is at it, or when the disk is
// slow enough for others to want the thread meanwhile.
class SyncThread {
 public:
  struct Hooks {
    std::function<void(Sequence)> on_synced;       // In the thread that synced, after each sync.
    std::function<void(const Error&)> on_failure;  // Final. Expected to end the process.
    // What each sync cost, for those who measure; may be empty.
    std::function<void(std::uint64_t records, std::chrono::nanoseconds taken)> on_measured = {};
  };
  SyncThread(Journal& journal, Hooks hooks);
  ~SyncThread();  // Syncs what is left, then stops.
  SyncThread(const SyncThread&) = delete;
  SyncThread& operator=(const SyncThread&) = delete;

  void request();
  void sync_here();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `redrive journal check`: what is there and what is wrong, without changing it.
struct CheckReport {
  bool healthy = true;
  std::vector<std::string> lines;  // For people: one finding each, with file and offset.
};
Result<CheckReport> check_journal(Files& files, const Explain& explain = {});

// `redrive journal repair`: salvages what can be read. Every record that is whole is kept, damaged
// ranges are cut out, and the report says what was lost. Writes new files; the damaged ones are
// kept under *.damaged. Records that can be explained are left as they are.
Result<CheckReport> repair_journal(Files& files, const Explain& explain = {});

// Puts an empty segment into the place of one that is missing and that a start does not replay, but
// whose payloads are still referenced: they are lost, and everything else can be started with.
Result<void> replace_missing_segment(Files& files, std::uint32_t number);

}  // namespace redrive::journal
