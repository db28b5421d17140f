#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "journal/files.h"
#include "journal/format.h"
#include "journal/journal.h"
#include "journal/page_writer.h"
#include "journal/read_ahead.h"
#include "journal/segment_table.h"
#include "journal/spares.h"
#include "journal/tail.h"

namespace redrive::journal {

// What recovery hands over: a journal whose last segment has a header on disk and, unless the disk
// is full, no records. Behind its last record there are only zeros or nothing.
struct JournalState {
  SegmentTable segments;
  Checkpoint checkpoint;
  Sequence last_sequence = 0;
  std::uint64_t bytes_since_checkpoint = 0;
  std::unique_ptr<Spares> spares;
  bool reserved = true;  // Whether the last segment has its space for itself.
  bool has_room = true;  // False: it started without any space but its own.
};

// The journal in files.
//
// An append only fills memory (Tail). The writer takes what is there, finishes the records' headers
// and writes segment by segment: a segment gets its name only when it is durable with its header
// and everything in its predecessor is durable too. Recovery relies on that order.
//
// Locks: `io_mutex_` first, then `mutex_`. The first is held across file operations by the writer
// and the chores, so those two exclude each other, but for filling spares with zeros: nobody waits
// for that. The second is never held across one.
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
  // A checkpoint that may become the valid one, and position_ where it begins.
  struct Mark {
    Checkpoint checkpoint;
    std::uint64_t position = 0;
  };

  // Called with mutex_ held.
  Appended append_record(RecordKind kind, std::span<const std::string_view> parts);
  void start_segment();
  char* extend(std::uint32_t size);
  void keep_open(std::uint32_t segment, std::shared_ptr<File> file);

  // Called with io_mutex_ held.
  Result<void> write_ranges();
  Result<void> write_segment(std::span<const Tail::Range> ranges);
  Result<void> write_records(std::span<const Tail::Range> ranges);
  std::string_view seal(const Tail::Range& range);
  Result<void> open_next_file();
  Result<bool> save_checkpoint();
  Result<bool> recycle_segments();
  Result<bool> prepare_spares();

  // Where several stretches are.
  struct Located {
    std::vector<std::pair<Wanted, std::shared_ptr<const Chunk>>> in_tail;
    std::vector<std::span<const Wanted>> runs;  // On disk, each close together,
    std::vector<ReadAhead::Piece> pieces;       // and from where to where each of them goes.
  };
  Located locate(std::span<const Wanted> wanted);
  bool read_from_tail(const Wanted& wanted) const;
  Result<void> read_from_file(const Wanted& wanted);
  Result<void> read_run(std::span<const Wanted> run, const ReadAhead::Piece& piece);
  Result<std::shared_ptr<File>> file_of(std::uint32_t segment);

  Files& files_;
  const Options options_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Tail tail_;
  SegmentTable segments_;
  Checkpoint checkpoint_;  // As last set; the manifest may still have the one before.
  std::uint64_t checkpoint_position_ = 0;
  std::vector<Mark> marks_;           // Checkpoints begun and not yet set.
  std::deque<std::uint32_t> opened_;  // Segments with an open file, in the order they were opened.
  const std::uint64_t position_at_open_;
  std::uint64_t position_;  // Bytes, with headers, since the checkpoint this run began with.
  std::uint64_t syncs_ = 0;

  std::mutex io_mutex_;
  // Guarded by io_mutex_.
  const std::unique_ptr<Spares> spares_;
  std::shared_ptr<File> file_;      // The one written to,
  std::uint32_t file_segment_ = 0;  // its segment,
  std::string file_temporary_;      // and its name as long as it does not have the segment's.
  std::uint32_t file_filled_ = 0;
  bool file_reserved_;
  Checkpoint saved_checkpoint_;  // As the manifest has it.
  PageWriter writer_;
  // Of the sync under way; kept for their memory.
  std::vector<Tail::Range> ranges_;
  std::vector<std::string_view> parts_;
  std::optional<Error> failure_;

  ReadAhead ahead_;
  std::atomic<Sequence> appended_;
  std::atomic<Sequence> synced_;
  std::atomic<bool> has_room_;
  std::atomic<std::uint32_t> spare_target_;
};

}  // namespace redrive::journal
