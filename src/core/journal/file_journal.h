#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "core/journal/files.h"
#include "core/journal/format.h"
#include "core/journal/journal.h"
#include "core/journal/page_writer.h"
#include "core/journal/read_ahead.h"
#include "core/journal/segment_table.h"
#include "core/journal/spares.h"
#include "core/journal/tail.h"

namespace redrive::journal {

// Result of recovery: a journal whose last segment has its header on disk and, unless the disk is
// full, no records. Only zeros, or nothing, follow its last record.
struct JournalState {
  SegmentTable segments;
  Checkpoint checkpoint;
  Sequence last_sequence = 0;
  std::uint64_t bytes_since_checkpoint = 0;
  std::unique_ptr<Spares> spares;
  bool reserved = true;  // Whether the last segment's space is reserved.
  bool has_room = true;  // False: the disk was full at start.
};

// The file-backed journal.
//
// append() only copies into memory (Tail). The writer takes what is there, completes the record
// headers and writes segment by segment: a segment gets its name only when its header and
// everything in its predecessor are durable. Recovery relies on that order.
//
// Lock order: `io_mutex_`, then `mutex_`. `io_mutex_` is held across file operations by the writer
// and by housekeeping, so the two exclude each other, except while spares are filled with zeros,
// which blocks nothing. `mutex_` is never held across file operations.
class FileJournal final : public Journal {
 public:
  FileJournal(Files& files, const Options& options, JournalState state);

  using Journal::append;
  Appended append(std::span<const std::string_view> parts) override;
  Appended append_checkpoint_begin(std::span<const std::string_view> parts) override;
  Appended append_checkpoint_end(std::span<const std::string_view> parts) override;
  std::size_t payload_bytes_max() const override;
  Result<void> read(Location from, std::size_t size, char* out) override;
  Result<void> read_many(std::span<const Wanted> wanted) override;
  Result<void> read_afresh(Location from, std::size_t size, char* out) override;
  Sequence appended() const override { return appended_.load(std::memory_order_acquire); }
  Sequence synced() const override { return synced_.load(std::memory_order_acquire); }
  Result<Sequence> sync_once() override;
  void hold(std::uint32_t segment, std::uint32_t bytes) override;
  void let_go(std::uint32_t segment, std::uint32_t bytes) override;
  bool has_segment(std::uint32_t segment) const override;
  Result<void> set_checkpoint(Sequence begin) override;
  void pin(std::uint32_t segment) override;
  void unpin(std::uint32_t segment) override;
  Result<bool> housekeep() override;
  bool has_room() const override { return has_room_.load(std::memory_order_relaxed); }
  void set_spare_target(std::uint32_t segments) override { spare_target_ = segments; }
  std::vector<SegmentUse> usage() const override;
  Totals totals() const override;

 private:
  // A checkpoint that has begun and may become the valid one, with position_ at its begin.
  struct BegunCheckpoint {
    Checkpoint checkpoint;
    std::uint64_t position = 0;
  };

  // Called with mutex_ held.
  Appended append_record(RecordKind kind, std::span<const std::string_view> parts) REQUIRES(mutex_);
  void start_segment() REQUIRES(mutex_);
  char* extend(std::uint32_t size) REQUIRES(mutex_);
  void keep_open(std::uint32_t segment, std::shared_ptr<File> file) REQUIRES(mutex_);

  // Called with io_mutex_ held.
  Result<void> write_ranges() REQUIRES(io_mutex_);
  Result<void> write_segment(std::span<const Tail::Range> ranges) REQUIRES(io_mutex_);
  Result<void> write_records(std::span<const Tail::Range> ranges) REQUIRES(io_mutex_);
  std::string_view seal(const Tail::Range& range);
  Result<void> open_next_file() REQUIRES(io_mutex_);
  Result<bool> save_checkpoint() REQUIRES(io_mutex_);
  Result<bool> recycle_segments() REQUIRES(io_mutex_);
  Result<bool> prepare_spares();

  // Where several ranges are: in memory or on disk.
  struct Located {
    std::vector<std::pair<Wanted, std::shared_ptr<const Chunk>>> in_tail;
    std::vector<std::span<const Wanted>> runs;  // On disk: runs of ranges that are close together,
    std::vector<ReadAhead::Piece> pieces;       // and the extent of each run.
  };
  Located locate(std::span<const Wanted> wanted);
  bool read_from_tail(const Wanted& wanted) const;
  Result<void> read_from_file(const Wanted& wanted);
  Result<void> read_run(std::span<const Wanted> run, const ReadAhead::Piece& piece);
  Result<std::shared_ptr<File>> file_of(std::uint32_t segment);

  Files& files_;
  const Options options_;

  mutable Mutex mutex_;
  Tail tail_ GUARDED_BY(mutex_);
  SegmentTable segments_ GUARDED_BY(mutex_);
  Checkpoint checkpoint_
      GUARDED_BY(mutex_);  // As last set; the manifest may still have the previous one.
  std::uint64_t checkpoint_position_ GUARDED_BY(mutex_) = 0;
  std::vector<BegunCheckpoint> begun_ GUARDED_BY(mutex_);  // Checkpoints begun but not set yet.
  std::deque<std::uint32_t> opened_
      GUARDED_BY(mutex_);  // Segments with an open file, oldest first.
  const std::uint64_t position_at_open_;
  // Bytes, including headers, since the checkpoint that this run started from.
  std::uint64_t position_ GUARDED_BY(mutex_);
  std::uint64_t syncs_ GUARDED_BY(mutex_) = 0;

  Mutex io_mutex_;
  const std::unique_ptr<Spares> spares_;
  std::shared_ptr<File> file_ GUARDED_BY(io_mutex_);      // The file being written,
  std::uint32_t file_segment_ GUARDED_BY(io_mutex_) = 0;  // its segment,
  std::string file_temporary_
      GUARDED_BY(io_mutex_);  // and its name until it is renamed to the segment's.
  std::uint32_t file_filled_ GUARDED_BY(io_mutex_) = 0;
  bool file_reserved_ GUARDED_BY(io_mutex_);
  Checkpoint saved_checkpoint_ GUARDED_BY(io_mutex_);  // As in the manifest.
  PageWriter writer_ GUARDED_BY(io_mutex_);
  // Buffers of the sync in progress, kept to reuse their capacity.
  std::vector<Tail::Range> ranges_ GUARDED_BY(io_mutex_);
  std::vector<std::string_view> parts_ GUARDED_BY(io_mutex_);
  std::optional<Error> failure_ GUARDED_BY(io_mutex_);

  ReadAhead ahead_;
  std::atomic<Sequence> appended_;
  std::atomic<Sequence> synced_;
  std::atomic<bool> has_room_;
  std::atomic<std::uint32_t> spare_target_;
};

}  // namespace redrive::journal
