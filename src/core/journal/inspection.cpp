#include "core/journal/inspection.h"

#include <fmt/format.h>

#include <algorithm>

namespace redrive::journal {
namespace {

bool sound(const InspectedSegment& segment) {
  return !segment.missing && !segment.header_lost && segment.scan.damage.empty();
}

bool is_damage(const Error& error) {
  return error.code == ErrorCode::storage_damaged;
}

class Inspector {
 public:
  Inspector(Files& files, const Explain& explain) : files_(files), explain_(explain) {}

  Result<Inspection> run() {
    found_.directory = TRY(list_directory(files_));
    RETURN_IF_ERROR(check_ours());
    RETURN_IF_ERROR(read_headers());
    RETURN_IF_ERROR(find_manifest());
    list_segments();
    for (std::size_t i = 0; i < found_.segments.size(); ++i) RETURN_IF_ERROR(scan(i));
    const Sequence next = found_.next_sequence();
    if (next <= found_.manifest.durable) found_.end_lost = found_.manifest.durable + 1 - next;
    return std::move(found_);
  }

 private:
  Result<void> check_ours() const {
    if (!found_.directory.segments.empty()) return {};
    if (!found_.directory.manifest) {
      return fail(ErrorCode::storage_foreign,
                  fmt::format("{} contains no journal", files_.path("")));
    }
    return std::unexpected(
        damaged_at(files_, segment_name(1), 0, "there is a manifest, but no segment"));
  }

  Result<void> read_headers() {
    for (const std::uint32_t number : found_.directory.segments) {
      auto header = read_segment_header(files_, number);
      if (!header && !is_damage(header.error())) return std::unexpected(header.error());
      if (header) segment_bytes_ = std::max(segment_bytes_, header->segment_bytes);
      headers_.push_back(header ? std::optional<SegmentHeader>(*header) : std::nullopt);
    }
    return {};
  }

  Result<void> find_manifest() {
    auto manifest = found_.directory.manifest
                        ? read_manifest(files_)
                        : Result<Manifest>(fail(ErrorCode::storage_damaged, "it is missing"));
    if (!manifest && !is_damage(manifest.error())) return std::unexpected(manifest.error());
    found_.manifest_lost = !manifest;
    found_.manifest.checkpoint = manifest ? manifest->checkpoint : TRY(find_checkpoint());
    if (manifest) found_.manifest.durable = manifest->durable;
    if (found_.directory.segments.back() >= found_.manifest.checkpoint.record.segment) return {};
    return std::unexpected(
        damaged_at(files_,
                   segment_name(found_.manifest.checkpoint.record.segment),
                   0,
                   "it is missing, and so is everything after it: there is nothing to replay"));
  }

  // The last complete checkpoint, or the start of the journal.
  Result<Checkpoint> find_checkpoint() {
    std::optional<Checkpoint> begun;
    std::optional<Checkpoint> complete;
    if (found_.directory.segments.front() == 1) complete = Checkpoint{};
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      const std::uint32_t number = found_.directory.segments[i];
      image_ = TRY(read_segment(files_, number, kWholeSegment, memory_));
      const SegmentImage image{image_, number, end_of(i)};
      auto record = find_record(image, kSegmentHeaderBytes, 1);
      for (; record; record = find_record(image, record->end, record->header.next())) {
        const Checkpoint here{record->header.sequence, {number, record->offset}};
        if (record->header.kind == RecordKind::checkpoint_begin) begun = here;
        if (record->header.kind == RecordKind::checkpoint_end && begun) complete = begun;
      }
    }
    if (complete) return *complete;
    return std::unexpected(damaged_at(files_,
                                      std::string(kManifestName),
                                      0,
                                      "it cannot be read, and no complete checkpoint was found"));
  }

  // Where the segment in image_ ends, if its successor's header says so.
  std::uint32_t end_of(std::size_t i) const {
    const bool told = i + 1 < headers_.size() && headers_[i + 1] &&
                      headers_[i + 1]->previous == found_.directory.segments[i];
    return told ? headers_[i + 1]->previous_end : static_cast<std::uint32_t>(image_.size());
  }

  // All existing segments, and those missing between the checkpoint and the last segment.
  void list_segments() {
    std::uint32_t expected = found_.manifest.checkpoint.record.segment;
    for (std::size_t i = 0; i < headers_.size(); ++i) {
      const std::uint32_t number = found_.directory.segments[i];
      for (; expected < number; ++expected) {
        found_.segments.push_back({.header = {.number = expected}, .missing = true});
      }
      found_.segments.push_back({.header = headers_[i].value_or(SegmentHeader{.number = number}),
                                 .header_lost = !headers_[i]});
      expected = std::max(expected, number + 1);
    }
    found_.segments.back().last = true;
  }

  Result<void> scan(std::size_t i) {
    InspectedSegment& segment = found_.segments[i];
    image_ = {};
    if (!segment.missing)
      image_ = TRY(read_segment(files_, segment.header.number, kWholeSegment, memory_));
    const InspectedSegment* previous = i > 0 ? &found_.segments[i - 1] : nullptr;
    if (segment.missing || segment.header_lost) rebuild_header(segment, previous);

    ScanRequest request{.image = {image_, segment.header.number, segment.header.segment_bytes},
                        .sequence = segment.header.first_sequence};
    if (!segment.last) seal(request, found_.segments[i + 1]);
    segment.scan = TRY(scan_around_checkpoint(request));
    return {};
  }

  void rebuild_header(InspectedSegment& segment, const InspectedSegment* previous) {
    SegmentHeader& header = segment.header;
    const bool follows = previous && previous->header.number + 1 == header.number;
    header.segment_bytes = std::max(segment_bytes_, kSegmentBytesMin);
    header.previous = header.number - 1;
    header.previous_end = follows ? previous->scan.end : 0;
    header.first_sequence = follows ? previous->scan.next : first_in_image(header);
  }

  // If the header is lost, the first records may be lost too, so the first record found need not be
  // the segment's first: for the checkpoint's segment, trust the manifest instead.
  Sequence first_in_image(const SegmentHeader& header) const {
    const Checkpoint& checkpoint = found_.manifest.checkpoint;
    const bool replay_begins = header.number == checkpoint.record.segment;
    if (replay_begins && checkpoint.record.offset == kSegmentHeaderBytes) {
      return checkpoint.sequence;
    }
    const auto record =
        find_record({image_, header.number, header.segment_bytes}, kSegmentHeaderBytes, 1);
    if (!record) return header.number >= checkpoint.record.segment ? checkpoint.sequence : 1;
    const Sequence first = record->header.sequence;
    return replay_begins ? std::min(first, checkpoint.sequence) : first;
  }

  // The segment's end is known if the next segment's header is readable.
  static void seal(ScanRequest& request, const InspectedSegment& next) {
    if (next.missing || next.header_lost || next.header.previous != request.image.number) return;
    request.image.limit = next.header.previous_end;
    request.sealed_before = next.header.first_sequence;
  }

  // A record must start at the checkpoint's position, so its segment is scanned in two parts.
  Result<Scan> scan_around_checkpoint(ScanRequest request) {
    const Checkpoint& checkpoint = found_.manifest.checkpoint;
    const bool split = request.image.number == checkpoint.record.segment &&
                       checkpoint.record.offset > kSegmentHeaderBytes;
    if (!split) return scan_part(request);

    ScanRequest before = request;
    before.image.limit = checkpoint.record.offset;
    before.sealed_before = checkpoint.sequence;
    Scan all = TRY(scan_part(before));

    request.from = checkpoint.record.offset;
    request.sequence = checkpoint.sequence;
    Scan after = TRY(scan_part(request));
    after.damage.insert(after.damage.begin(), all.damage.begin(), all.damage.end());
    after.explained.insert(after.explained.begin(), all.explained.begin(), all.explained.end());
    after.records += all.records;
    after.bytes += all.bytes;
    return after;
  }

  Result<Scan> scan_part(ScanRequest request) {
    request.explain = &explain_;
    return scan_records(request, [](const WholeRecord&) { return Result<void>(); });
  }

  Files& files_;
  const Explain& explain_;
  Inspection found_;
  std::vector<std::optional<SegmentHeader>> headers_;  // Parallel to directory.segments.
  std::uint32_t segment_bytes_ = 0;                    // The largest value in any header.
  Pages memory_;
  std::string_view image_;  // Points into memory_.
};

}  // namespace

bool Inspection::healthy() const {
  return !manifest_lost && end_lost == 0 && std::all_of(segments.begin(), segments.end(), sound);
}

Result<Inspection> inspect(Files& files, const Explain& explain) {
  return Inspector(files, explain).run();
}

}  // namespace redrive::journal
