#include "core/journal/file_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/prefetch.h"
#include "core/journal/directory.h"

namespace redrive::journal {
namespace {

// Limits file descriptors; there may be many old segments.
constexpr std::size_t kOpenFilesMax = 256;
// Ranges are read with one system call if the gaps between them and their sizes are at most this.
constexpr std::size_t kGapBytesMax = 1024;
constexpr std::size_t kJoinedBytesMax = 16u << 10;
// For each range; the hardware prefetcher continues with longer ones.
constexpr std::size_t kPrefetchBytesMax = 2048;

bool follows_closely(const Journal::Wanted& before, const Journal::Wanted& after) {
  const std::size_t end = before.from.offset + before.size;
  return after.from.segment == before.from.segment && after.from.offset >= end &&
         after.from.offset - end <= kGapBytesMax &&
         std::max(before.size, after.size) <= kJoinedBytesMax;
}

// Up to where a segment is immutable, that is, no longer in the tail.
std::uint32_t end_before(const Location& tail, const Segment& segment) {
  if (segment.number == tail.segment) return tail.offset;
  return segment.number < tail.segment ? segment.used : 0;
}

void copy_from(const Chunk& chunk, const Journal::Wanted& wanted) {
  std::memcpy(wanted.out, chunk.bytes.get() + (wanted.from.offset - chunk.offset), wanted.size);
}

}  // namespace

FileJournal::FileJournal(Files& files, const Options& options, JournalState state)
    : files_(files),
      options_(options),
      tail_(options.tail_cache_bytes),
      segments_(std::move(state.segments)),
      checkpoint_(state.checkpoint),
      position_at_open_(state.bytes_since_checkpoint),
      position_(state.bytes_since_checkpoint),
      spares_(std::move(state.spares)),
      file_reserved_(state.reserved),
      saved_checkpoint_(state.checkpoint),
      appended_(state.last_sequence),
      synced_(state.last_sequence),
      has_room_(state.has_room),
      spare_target_(options.spare_segments) {
  file_ = segments_.last().file;
  file_segment_ = segments_.last().number;
}

std::size_t FileJournal::payload_bytes_max() const {
  return largest_payload(options_.segment_bytes);
}

Appended FileJournal::append(std::span<const std::string_view> parts) {
  const MutexLock lock(mutex_);
  return append_record(RecordKind::data, parts);
}

Appended FileJournal::append_checkpoint_begin(std::span<const std::string_view> parts) {
  const MutexLock lock(mutex_);
  const Appended appended = append_record(RecordKind::checkpoint_begin, parts);
  BegunCheckpoint begun;
  begun.checkpoint.sequence = appended.sequence;
  begun.checkpoint.record = {appended.payload.segment,
                             appended.payload.offset - kRecordHeaderBytes};
  begun.position = position_ - (segments_.last().used - begun.checkpoint.record.offset);
  begun_.push_back(begun);
  return appended;
}

Appended FileJournal::append_checkpoint_end(std::span<const std::string_view> parts) {
  const MutexLock lock(mutex_);
  return append_record(RecordKind::checkpoint_end, parts);
}

Appended FileJournal::append_record(RecordKind kind, std::span<const std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  assert(size <= payload_bytes_max());
  const auto bytes = static_cast<std::uint32_t>(record_bytes(size));
  if (bytes > options_.segment_bytes - segments_.last().used) start_segment();

  const Sequence sequence = appended_.load(std::memory_order_relaxed) + 1;
  const Location payload{segments_.last().number, segments_.last().used + kRecordHeaderBytes};
  char* out = extend(bytes);
  char* const end = out + bytes;
  RecordHeader header{.length = static_cast<std::uint32_t>(size), .sequence = sequence};
  header.kind = kind;
  store_record_header(out, header);  // The writer adds the checksum.
  out += kRecordHeaderBytes;
  for (const std::string_view part : parts) out = std::copy(part.begin(), part.end(), out);
  std::fill(out, end, '\0');
  appended_.store(sequence, std::memory_order_release);
  return {.sequence = sequence, .payload = payload};
}

void FileJournal::start_segment() {
  const Segment& previous = segments_.last();
  SegmentHeader header;
  header.number = previous.number + 1;
  header.segment_bytes = options_.segment_bytes;
  header.first_sequence = appended_.load(std::memory_order_relaxed) + 1;
  header.previous = previous.number;
  header.previous_end = previous.used;
  segments_.add({.number = header.number, .bytes = header.segment_bytes});
  const std::string bytes = encode_segment_header(header);
  std::copy(bytes.begin(), bytes.end(), extend(kSegmentHeaderBytes));
}

char* FileJournal::extend(std::uint32_t size) {
  Segment& active = segments_.last();
  char* const room = tail_.extend(active.number, active.used, size);
  active.used += size;
  position_ += size;
  return room;
}

Result<void> FileJournal::read(Location from, std::size_t size, char* out) {
  const Wanted wanted{from, size, out};
  if (read_from_tail(wanted)) return {};
  return read_from_file(wanted);
}

Result<void> FileJournal::read_many(std::span<const Wanted> wanted) {
  Located located = locate(wanted);
  for (ReadAhead::Piece& piece : located.pieces) {
    if (!piece.file) piece.file = TRY(file_of(piece.from.segment));
  }
  RETURN_IF_ERROR(ahead_.find(located.pieces));
  for (const ReadAhead::Piece& piece : located.pieces) {
    if (!piece.window) continue;
    prefetch(piece.window->at(piece.from), std::min<std::size_t>(piece.bytes, kPrefetchBytesMax));
  }
  for (const auto& [one, chunk] : located.in_tail) copy_from(*chunk, one);
  for (std::size_t i = 0; i < located.runs.size(); ++i) {
    RETURN_IF_ERROR(read_run(located.runs[i], located.pieces[i]));
  }
  return {};
}

FileJournal::Located FileJournal::locate(std::span<const Wanted> wanted) {
  Located located;
  auto& runs = located.runs;
  runs.reserve(wanted.size());
  const MutexLock lock(mutex_);
  for (const Wanted& one : wanted) {
    if (auto chunk = tail_.find(one.from, one.size)) {
      located.in_tail.emplace_back(one, std::move(chunk));
    } else if (!runs.empty() && runs.back().data() + runs.back().size() == &one &&
               follows_closely(runs.back().back(), one)) {
      runs.back() = {runs.back().data(), runs.back().size() + 1};
    } else {
      runs.emplace_back(&one, 1);
    }
  }
  located.pieces.reserve(runs.size());
  const Location tail = tail_.begin();
  for (const auto run : runs) {
    const Location from = run.front().from;
    const std::size_t end = run.back().from.offset + run.back().size;
    const Segment& segment = segments_.at(from.segment);
    located.pieces.push_back({.file = segment.file,
                              .from = from,
                              .bytes = static_cast<std::uint32_t>(end - from.offset),
                              .end = end_before(tail, segment)});
  }
  return located;
}

bool FileJournal::read_from_tail(const Wanted& wanted) const {
  std::shared_ptr<const Chunk> chunk;
  {
    const MutexLock lock(mutex_);
    chunk = tail_.find(wanted.from, wanted.size);
  }
  if (!chunk) return false;
  copy_from(*chunk, wanted);
  return true;
}

Result<void> FileJournal::read_from_file(const Wanted& wanted) {
  const auto [segment, offset] = wanted.from;
  const auto file = TRY(file_of(segment));
  if (TRY(file->read(offset, wanted.out, wanted.size)) < wanted.size) {
    return std::unexpected(
        damaged_at(files_, segment_name(segment), offset, "the file ends before the record does"));
  }
  return {};
}

// Opens by name: the file may have been replaced, for example from a backup, since it was opened.
Result<void> FileJournal::read_afresh(Location from, std::size_t size, char* out) {
  std::shared_ptr<File> file;
  if (auto opened = files_.open(segment_name(from.segment))) {
    file = std::move(*opened);
  } else {
    file = TRY(file_of(from.segment));  // A new segment that does not have its name yet.
  }
  const std::uint32_t begin = page_of(from.offset);
  const std::size_t before = from.offset - begin;
  Pages pages;
  pages.grow(before + size);
  if (TRY(file->read_pages(begin, pages.data(), whole_pages(before + size))) < before + size) {
    return std::unexpected(damaged_at(
        files_, segment_name(from.segment), from.offset, "the file ends before the record does"));
  }
  std::memcpy(out, pages.data() + before, size);
  return {};
}

// Copying a kilobyte is cheaper than a system call, so the gaps between ranges are read too. They
// are all on disk: the tail in memory comes after everything on disk.
Result<void> FileJournal::read_run(std::span<const Wanted> run, const ReadAhead::Piece& piece) {
  if (const auto& window = piece.window) {
    for (const Wanted& one : run) std::memcpy(one.out, window->at(one.from), one.size);
    return {};
  }
  if (run.size() == 1) return read_from_file(run.front());
  const auto bytes = std::make_unique_for_overwrite<char[]>(piece.bytes);
  RETURN_IF_ERROR(read_from_file({piece.from, piece.bytes, bytes.get()}));
  for (const Wanted& one : run) {
    std::memcpy(one.out, bytes.get() + (one.from.offset - piece.from.offset), one.size);
  }
  return {};
}

Result<std::shared_ptr<File>> FileJournal::file_of(std::uint32_t segment) {
  {
    const MutexLock lock(mutex_);
    if (const auto& file = segments_.at(segment).file) return file;
  }
  std::shared_ptr<File> file = TRY(files_.open(segment_name(segment)));
  const MutexLock lock(mutex_);
  keep_open(segment, file);
  return file;
}

void FileJournal::keep_open(std::uint32_t segment, std::shared_ptr<File> file) {
  segments_.at(segment).file = std::move(file);
  opened_.push_back(segment);
  if (opened_.size() <= kOpenFilesMax) return;
  // A concurrent reader keeps its own reference until it is done.
  segments_.close(opened_.front());
  opened_.pop_front();
}

Result<Sequence> FileJournal::sync_once() {
  const MutexLock io_lock(io_mutex_);
  if (failure_) return std::unexpected(*failure_);
  Sequence target;
  {
    const MutexLock lock(mutex_);
    target = appended();
    tail_.unwritten(ranges_);
  }
  if (ranges_.empty()) return target;
  if (auto written = write_ranges(); !written) {
    // After a failed sync the kernel may have dropped the dirty pages, so a retry proves nothing.
    failure_ = written.error();
    return std::unexpected(*failure_);
  }
  const MutexLock lock(mutex_);
  tail_.mark_written(ranges_);
  ranges_.clear();
  ++syncs_;
  synced_.store(target, std::memory_order_release);
  return target;
}

Result<void> FileJournal::write_ranges() {
  const std::span<const Tail::Range> all(ranges_);
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    const std::uint32_t segment = all[begin].chunk->segment;
    while (end < all.size() && all[end].chunk->segment == segment) ++end;
    RETURN_IF_ERROR(write_segment(all.subspan(begin, end - begin)));
    begin = end;
  }
  return {};
}

// All ranges are in one segment. On return they are durable, and so is the segment's name.
Result<void> FileJournal::write_segment(std::span<const Tail::Range> ranges) {
  const std::uint32_t segment = ranges.front().chunk->segment;
  const bool is_new = segment != file_segment_;
  if (is_new) RETURN_IF_ERROR(open_next_file());
  RETURN_IF_ERROR(write_records(ranges));
  RETURN_IF_ERROR(file_->sync());
  if (!is_new) return {};
  RETURN_IF_ERROR(files_.rename(file_temporary_, segment_name(segment)));
  RETURN_IF_ERROR(files_.sync_directory());
  file_segment_ = segment;
  const MutexLock lock(mutex_);
  segments_.at(segment).filled = file_filled_;
  keep_open(segment, file_);
  return {};
}

Result<void> FileJournal::open_next_file() {
  Spares::Taken taken = TRY(spares_->take());
  if (!taken.reserved) has_room_ = false;
  file_ = std::move(taken.file);
  file_temporary_ = std::move(taken.name);
  file_filled_ = taken.filled;
  file_reserved_ = taken.reserved;
  writer_.forget();
  return {};
}

Result<void> FileJournal::write_records(std::span<const Tail::Range> ranges) {
  parts_.clear();
  for (const Tail::Range& range : ranges) parts_.push_back(seal(range));
  const std::uint32_t begin = ranges.front().chunk->offset + ranges.front().from;
  // Page writes only within reserved space.
  const bool pages_are_ours = file_reserved_ && options_.segment_bytes % kPageBytes == 0;
  return pages_are_ours ? writer_.write(*file_, begin, parts_) : file_->write(begin, parts_);
}

std::string_view FileJournal::seal(const Tail::Range& range) {
  const Chunk& chunk = *range.chunk;
  char* const bytes = chunk.bytes.get();
  const bool has_segment_header = chunk.offset + range.from == 0;
  const std::uint32_t records = has_segment_header ? kSegmentHeaderBytes : range.from;
  seal_records(chunk.segment, synced(), bytes + records, range.to - records);
  return {bytes + range.from, range.to - range.from};
}

void FileJournal::hold(std::uint32_t segment, std::uint32_t bytes) {
  const MutexLock lock(mutex_);
  segments_.hold(segment, bytes);
}

void FileJournal::let_go(std::uint32_t segment, std::uint32_t bytes) {
  const MutexLock lock(mutex_);
  segments_.let_go(segment, bytes, appended() + 1);
}

bool FileJournal::has_segment(std::uint32_t segment) const {
  const MutexLock lock(mutex_);
  return segments_.has(segment);
}

void FileJournal::pin(std::uint32_t segment) {
  const MutexLock lock(mutex_);
  segments_.pin(segment);
}

void FileJournal::unpin(std::uint32_t segment) {
  const MutexLock lock(mutex_);
  segments_.unpin(segment);
}

Result<void> FileJournal::set_checkpoint(Sequence begin) {
  const MutexLock lock(mutex_);
  if (begin == checkpoint_.sequence) return {};
  assert(begin <= synced());
  const auto begun =
      std::find_if(begun_.begin(), begun_.end(), [begin](const BegunCheckpoint& candidate) {
        return candidate.checkpoint.sequence == begin;
      });
  assert(begun != begun_.end());  // Begun by append_checkpoint_begin, and after the current one.
  checkpoint_ = begun->checkpoint;
  checkpoint_position_ = begun->position;
  begun_.erase(begun_.begin(), begun + 1);
  return {};
}

Result<bool> FileJournal::housekeep() {
  bool more = false;
  {
    const MutexLock io_lock(io_mutex_);
    if (failure_) return std::unexpected(*failure_);
    more = TRY(save_checkpoint());
    more |= TRY(recycle_segments());
    more |= TRY(prepare_spares());
  }
  return TRY(spares_->fill_some()) || more;
}

// Returns true if it should be retried soon.
Result<bool> FileJournal::save_checkpoint() {
  Checkpoint checkpoint;
  {
    const MutexLock lock(mutex_);
    checkpoint = checkpoint_;
  }
  if (checkpoint == saved_checkpoint_) return false;
  const Manifest manifest{.checkpoint = checkpoint, .durable = synced()};
  auto saved = write_manifest(files_, manifest);
  if (!saved && saved.error().code == ErrorCode::storage_full && spares_->count() > 0) {
    // Segments can be recycled only after the manifest is written, so free a spare segment for it.
    has_room_ = false;
    RETURN_IF_ERROR(spares_->sacrifice());
    saved = write_manifest(files_, manifest);
  }
  if (saved) {
    saved_checkpoint_ = checkpoint;
    return false;
  }
  if (saved.error().code != ErrorCode::storage_full) return std::unexpected(saved.error());
  has_room_ = false;
  return false;
}

Result<bool> FileJournal::recycle_segments() {
  std::vector<Segment> free;
  {
    const MutexLock lock(mutex_);
    while (auto segment = segments_.take_free_below(saved_checkpoint_.record.segment, synced())) {
      std::erase(opened_, segment->number);
      free.push_back(std::move(*segment));
    }
  }
  if (free.empty()) return false;
  RETURN_IF_ERROR(spares_->recycle(free, spare_target_));
  return true;
}

Result<bool> FileJournal::prepare_spares() {
  const auto more = spares_->prepare(spare_target_);
  if (!more && more.error().code != ErrorCode::storage_full) return more;
  if (!more) has_room_ = false;
  if (spares_->count() >= spare_target_) has_room_ = true;
  return more.value_or(false);
}

std::vector<Journal::SegmentUse> FileJournal::usage() const {
  const MutexLock lock(mutex_);
  return segments_.usage(checkpoint_.record.segment, segments_.last_number());
}

Journal::Totals FileJournal::totals() const {
  const MutexLock lock(mutex_);
  return {.syncs = syncs_,
          .bytes_appended = position_ - position_at_open_,
          .bytes_since_checkpoint = position_ - checkpoint_position_,
          .segments = segments_.count(),
          .segments_since_checkpoint = segments_.last_number() - checkpoint_.record.segment + 1,
          .spares = spares_->count()};
}

}  // namespace redrive::journal
