#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <future>
#include <utility>

#include "core/journal/directory.h"
#include "core/journal/file_journal.h"
#include "core/journal/scan.h"

// Opening a journal: docs/formats/journal.md, "Recovery". Everything is read and checked first;
// then the journal continues in a new segment. Until that point nothing in the directory changes.
namespace redrive::journal {
namespace {

// With less space left, the last segment is not worth continuing: a receive needs more.
constexpr std::size_t kContinuedPayloadMin = 1024;

class Recovery {
 public:
  Recovery(Files& files, const Options& options, const Replay& replay, Recovered& recovered,
           const Explain& explain)
      : files_(files),
        options_(options),
        replay_(replay),
        recovered_(recovered),
        explain_(explain) {}

  // Read-only. A journal without a manifest has no records to replay.
  Result<void> replay_only() {
    directory_ = TRY(list_directory(files_));
    if (!directory_.manifest) return check_empty();
    manifest_ = TRY(read_manifest(files_));
    RETURN_IF_ERROR(read_headers());
    RETURN_IF_ERROR(check_chain());
    return replay_chain();
  }

  Result<std::unique_ptr<Journal>> run() {
    directory_ = TRY(list_directory(files_));
    if (directory_.manifest) {
      manifest_ = TRY(read_manifest(files_));
      RETURN_IF_ERROR(read_headers());
      RETURN_IF_ERROR(check_chain());
      RETURN_IF_ERROR(replay_chain());
      RETURN_IF_ERROR(sync_replayed());
    } else {
      RETURN_IF_ERROR(check_empty());
      next_.sequence = 1;
      next_.header.number = 1;
    }
    return start();
  }

 private:
  // Without a manifest, a journal may be created only in an empty directory, or in one with what an
  // interrupted first start leaves behind: a first segment without records.
  Result<void> check_empty() {
    if (!directory_.segments.empty()) {
      const bool first_only = directory_.segments == std::vector<std::uint32_t>{1};
      if (first_only && TRY(has_no_records(1))) return {};
      return std::unexpected(damaged_at(
          files_, std::string(kManifestName), 0, "it is missing, although there are segments"));
    }
    return check_not_foreign(files_, directory_);
  }

  Result<bool> has_no_records(std::uint32_t number) {
    const SegmentHeader header = TRY(read_segment_header(files_, number));
    image_ = TRY(read_segment(files_, number, kWholeSegment, memory_));
    return !find_record({image_, number, header.segment_bytes}, kSegmentHeaderBytes, 1);
  }

  Result<void> read_headers() {
    for (const std::uint32_t number : directory_.segments) {
      headers_.push_back(TRY(read_segment_header(files_, number)));
    }
    return {};
  }

  // From the checkpoint's segment on, numbers are consecutive and each header names its
  // predecessor.
  Result<void> check_chain() {
    std::uint32_t expected = manifest_.checkpoint.record.segment;
    for (const SegmentHeader& header : headers_) {
      if (header.number < manifest_.checkpoint.record.segment) continue;
      if (header.number != expected) break;
      const bool first = expected == manifest_.checkpoint.record.segment;
      if (!first && header.previous != expected - 1) {
        return std::unexpected(damaged_at(
            files_, segment_name(expected), 0, "it does not follow the previous segment"));
      }
      ++expected;
    }
    if (headers_.empty() || headers_.back().number != expected - 1 ||
        headers_.back().number < manifest_.checkpoint.record.segment) {
      return std::unexpected(damaged_at(files_, segment_name(expected), 0, "it is missing"));
    }
    return {};
  }

  Result<void> replay_chain() {
    next_.sequence = manifest_.checkpoint.sequence;
    std::uint32_t from = manifest_.checkpoint.record.offset;
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].number < manifest_.checkpoint.record.segment) {
        add_old_segment(i);
        continue;
      }
      RETURN_IF_ERROR(replay_segment(i, from));
      from = kSegmentHeaderBytes;
    }
    recovered_.last_sequence = next_.sequence - 1;
    return {};
  }

  // Not read: only message bodies in it may still be needed. Its end is known if its successor
  // still exists.
  void add_old_segment(std::size_t i) {
    const SegmentHeader& header = headers_[i];
    const bool known = i + 1 < headers_.size() && headers_[i + 1].previous == header.number;
    const std::uint32_t used = known ? headers_[i + 1].previous_end : header.segment_bytes;
    state_.segments.add({.number = header.number, .bytes = header.segment_bytes, .used = used});
  }

  // Upper bound for the end of the segment's records.
  std::uint32_t end_of(std::size_t i) const {
    return i + 1 == headers_.size() ? headers_[i].segment_bytes : headers_[i + 1].previous_end;
  }

  // Returns a segment's bytes, and reads the next segment while this one is replayed.
  Result<std::string_view> take_image(std::size_t i) {
    const auto image = coming_.valid()
                           ? coming_.get()
                           : read_segment(files_, headers_[i].number, end_of(i), coming_memory_);
    std::swap(memory_, coming_memory_);
    if (i + 1 < headers_.size()) {
      coming_ = std::async(std::launch::async, [this, next = i + 1] {
        return read_segment(files_, headers_[next].number, end_of(next), coming_memory_);
      });
    }
    return image;
  }

  Result<void> replay_segment(std::size_t i, std::uint32_t from) {
    const SegmentHeader& header = headers_[i];
    const bool last = i + 1 == headers_.size();
    const std::uint32_t limit = end_of(i);
    image_ = TRY(take_image(i));
    ScanRequest request{.image = {image_, header.number, limit},
                        .from = from,
                        .sequence = next_.sequence,
                        .stop_at_damage = true,
                        .explain = &explain_};
    if (!last) request.sealed_before = headers_[i + 1].first_sequence;
    RETURN_IF_ERROR(check_start(header, request));
    const Scan scan = TRY(scan_segment(request));
    note(header, from, scan);
    if (!last) return {};
    if (scan.next <= manifest_.durable)
      return std::unexpected(unreadable(header.number, scan.end, scan.next));
    note_end(header, scan);
    return {};
  }

  // The first record must be where the header or the checkpoint says.
  Result<void> check_start(const SegmentHeader& header, const ScanRequest& request) {
    const bool whole = request.from == kSegmentHeaderBytes;
    if (whole ? header.first_sequence == request.sequence
              : header.first_sequence <= request.sequence && request.from <= request.image.limit) {
      return {};
    }
    return std::unexpected(damaged_at(
        files_,
        segment_name(header.number),
        0,
        fmt::format(
            "it begins with record {}, not with {}", header.first_sequence, request.sequence)));
  }

  Result<Scan> scan_segment(const ScanRequest& request) {
    const std::uint32_t number = request.image.number;
    auto scan = scan_records(request, [&](const WholeRecord& record) {
      return replay_(
          record.header.sequence, {number, record.offset + kRecordHeaderBytes}, record.payload);
    });
    if (!scan && scan.error().code == ErrorCode::storage_foreign) {
      scan.error().message =
          fmt::format("{}: {}", files_.path(segment_name(number)), scan.error().message);
    }
    if (scan && !scan->damage.empty()) {
      const Damage& damage = scan->damage.front();
      return std::unexpected(unreadable(number, damage.from, damage.first_lost));
    }
    return scan;
  }

  Error unreadable(std::uint32_t number, std::uint32_t offset, Sequence sequence) {
    return damaged_at(files_,
                      segment_name(number),
                      offset,
                      fmt::format("record {}, which was synced, cannot be read", sequence));
  }

  void note(const SegmentHeader& header, std::uint32_t from, const Scan& scan) {
    next_.sequence = scan.next;
    recovered_.records += scan.records;
    recovered_.bytes += scan.bytes;
    recovered_.explained += scan.explained.size();
    state_.bytes_since_checkpoint += scan.end - from;
    state_.segments.add({.number = header.number, .bytes = header.segment_bytes, .used = scan.end});
  }

  void note_end(const SegmentHeader& header, const Scan& scan) {
    last_end_ = scan.end;
    if (scan.torn) {
      recovered_.truncated = fmt::format(
          "the end of {} was never synced and is torn: truncated at byte {}, after record {}",
          files_.path(segment_name(header.number)),
          scan.end,
          scan.next - 1);
    }
    if (scan.end == kSegmentHeaderBytes) {
      replace_last(header);
    } else {
      next_.header.number = header.number + 1;
      next_.header.previous = header.number;
      next_.header.previous_end = scan.end;
    }
  }

  // A last segment without records is replaced by a new file of the same name; otherwise every
  // start without an append would leave a segment behind.
  void replace_last(const SegmentHeader& header) {
    next_.header = header;
    const auto removed = state_.segments.remove_last();
    assert(removed.number == header.number);
  }

  // A killed run may have left bytes and names only in the page cache. Make both durable before
  // changing anything: otherwise a power loss could keep the new segment's name and lose its
  // predecessor's, or bring back a recycled segment's name for a spare that has been overwritten.
  Result<void> sync_replayed() {
    const auto file = TRY(files_.open(segment_name(headers_.back().number)));
    RETURN_IF_ERROR(file->sync());
    return files_.sync_directory();
  }

  Result<std::unique_ptr<Journal>> start() {
    state_.spares = std::make_unique<Spares>(files_, options_, directory_.spares);
    auto taken = state_.spares->create_reserved();
    if (taken) {
      RETURN_IF_ERROR(start_in_new(*std::move(taken)));
      RETURN_IF_ERROR(keep_manifest_temporary(files_, manifest_));
    } else if (taken.error().code == ErrorCode::storage_full) {
      RETURN_IF_ERROR(start_without_space());
    } else {
      return std::unexpected(taken.error());
    }
    state_.checkpoint = manifest_.checkpoint;
    state_.last_sequence = next_.sequence - 1;
    return std::make_unique<FileJournal>(files_, options_, std::move(state_));
  }

  // On a full disk, take no segment from the reserve while the last one has space left: otherwise a
  // few crashes would exhaust the reserve, and deletes would be impossible.
  Result<void> start_without_space() {
    state_.has_room = false;
    if (TRY(can_continue())) return start_in_last();
    return start_in_new(TRY(state_.spares->take_new()));
  }

  Result<bool> can_continue() {
    if (headers_.empty() || headers_.back().segment_bytes != options_.segment_bytes) return false;
    if (last_end_ + record_bytes(kContinuedPayloadMin) > options_.segment_bytes) return false;
    const auto file = TRY(files_.open(segment_name(headers_.back().number)));
    return TRY(file->size()) == options_.segment_bytes;  // All of its space is allocated.
  }

  // Bytes after the last record were never synced. Zero them first: an intact record of the
  // previous run must not follow a record of this run.
  Result<void> start_in_last() {
    const SegmentHeader& header = headers_.back();
    std::shared_ptr<File> file = TRY(files_.open(segment_name(header.number)));
    const auto page_end = std::min<std::uint64_t>(whole_pages(last_end_), header.segment_bytes);
    RETURN_IF_ERROR(file->write(last_end_, std::string(page_end - last_end_, '\0')));
    RETURN_IF_ERROR(file->write_zeros(page_end, header.segment_bytes - page_end));
    RETURN_IF_ERROR(file->sync());
    // Already in the table, unless it has no records.
    if (state_.segments.count() == 0 || state_.segments.last_number() != header.number) {
      state_.segments.add({.number = header.number, .bytes = header.segment_bytes});
    }
    Segment& last = state_.segments.last();
    last.used = last_end_;
    last.filled = header.segment_bytes;
    last.file = std::move(file);
    state_.spares->require_clean_next();
    return {};
  }

  Result<void> start_in_new(Spares::Taken taken) {
    next_.header.segment_bytes = options_.segment_bytes;
    next_.header.first_sequence = next_.sequence;
    RETURN_IF_ERROR(publish_segment(files_, *taken.file, taken.name, next_.header));
    if (!directory_.manifest) RETURN_IF_ERROR(write_manifest(files_, manifest_));

    state_.segments.add({.number = next_.header.number,
                         .bytes = options_.segment_bytes,
                         .used = kSegmentHeaderBytes,
                         .filled = taken.filled,
                         .file = std::move(taken.file)});
    state_.reserved = taken.reserved;
    state_.has_room = state_.has_room && taken.reserved;
    return {};
  }

  struct Next {
    Sequence sequence = 1;
    SegmentHeader header;
  };

  Files& files_;
  const Options& options_;
  const Replay& replay_;
  Recovered& recovered_;
  const Explain& explain_;
  Directory directory_;
  Manifest manifest_;
  std::vector<SegmentHeader> headers_;  // Of all segments, oldest first.
  Pages memory_;                        // Memory and
  std::string_view image_;              // content of the segment being read.
  std::uint32_t last_end_ = 0;          // Where the records of the last segment end.
  Next next_;                           // Where the journal continues.
  JournalState state_;
  Pages coming_memory_;
  // Last member: the future's destructor waits before the memory it reads into is freed.
  std::future<Result<std::string_view>> coming_;
};

}  // namespace

Result<std::unique_ptr<Journal>> open_journal(Files& files, const Options& options,
                                              const Replay& replay, Recovered& recovered,
                                              const Explain& explain) {
  assert(options.segment_bytes >= kSegmentBytesMin);
  assert(options.segment_bytes % kRecordAlignment == 0);
  recovered = {};
  return Recovery(files, options, replay, recovered, explain).run();
}

Result<Recovered> replay_journal(Files& files, const Replay& replay, const Explain& explain) {
  Recovered recovered;
  RETURN_IF_ERROR(Recovery(files, {}, replay, recovered, explain).replay_only());
  return recovered;
}

}  // namespace redrive::journal
