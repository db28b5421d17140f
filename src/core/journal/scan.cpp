#include "core/journal/scan.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstring>

namespace redrive::journal {
namespace {

bool known(const RecordHeader& header) {
  return header.version == kFormatVersion && header.kind >= RecordKind::data &&
         header.kind <= RecordKind::checkpoint_end && header.zero == 0;
}

// A quick test that rules out most bytes that are not a record header: the version is in its place
// and the last two bytes are zero.
bool may_be_header(const char* bytes) {
  std::uint32_t end;
  std::memcpy(&end, bytes + offsetof(RecordHeader, version), sizeof end);
  return (end & 0xffff00ff) == kFormatVersion;
}

// Whether a record with this header fits in the segment. A skip record's range need not exist in
// the file.
bool fits(const SegmentImage& image, std::uint32_t offset, const RecordHeader& header) {
  const std::uint64_t end = offset + record_bytes(header.length);
  if (end > image.limit) return false;
  return header.kind == RecordKind::skip || end <= image.bytes.size();
}

WholeRecord view(const SegmentImage& image, std::uint32_t offset, const RecordHeader& header) {
  WholeRecord record{.header = header, .offset = offset};
  record.end = offset + static_cast<std::uint32_t>(record_bytes(header.length));
  if (header.kind != RecordKind::skip) {
    record.payload = image.bytes.substr(offset + kRecordHeaderBytes, header.length);
  }
  return record;
}

bool checksum_matches(const SegmentImage& image, std::uint32_t offset, const RecordHeader& header) {
  return record_checksum(image.number, image.bytes.data() + offset) == header.checksum;
}

bool header_inside(const SegmentImage& image, std::uint64_t offset) {
  return offset + kRecordHeaderBytes <= std::min<std::uint64_t>(image.limit, image.bytes.size());
}

// State of one scan.
class Scanner {
 public:
  Scanner(const ScanRequest& request, const VisitRecord& visit)
      : request_(request), image_(request.image), visit_(visit) {
    scan_.end = request.from;
    scan_.next = request.sequence;
  }

  Result<Scan> run() {
    while (scan_.end + kRecordHeaderBytes <= image_.limit) {
      const auto record = TRY(record_at(image_, scan_.end));
      if (record && record->header.sequence == scan_.next) {
        RETURN_IF_ERROR(pass(*record));
        continue;
      }
      const auto damage = damage_here();
      if (!damage) break;
      if (const auto explained = explained_record(); explained && explained->end <= damage->to) {
        scan_.explained.push_back(explained->offset);
        RETURN_IF_ERROR(pass(*explained));
        continue;
      }
      scan_.damage.push_back(*damage);
      if (request_.stop_at_damage) return scan_;
      scan_.end = damage->to;
      scan_.next = damage->first_lost + damage->lost;
    }
    check_seal();
    return scan_;
  }

 private:
  Result<void> pass(const WholeRecord& record) {
    if (record.header.kind != RecordKind::skip) {
      RETURN_IF_ERROR(visit_(record));
      ++scan_.records;
      scan_.bytes += record.end - record.offset;
    }
    scan_.end = record.end;
    scan_.next = record.header.next();
    return {};
  }

  // The bytes at scan_.end are not the expected record. Returns the damaged range, or nullopt if
  // the records end here.
  std::optional<Damage> damage_here() {
    const auto next = find_record(image_, scan_.end + kRecordAlignment, scan_.next);
    if (next && (request_.sealed_before || proves_damage(*next))) {
      return damage_up_to(next->offset, next->header.sequence);
    }
    if (request_.sealed_before) return damage_up_to(image_.limit, *request_.sealed_before);
    scan_.torn = next || expected_header_here();
    return std::nullopt;
  }

  // The expected record, if the owner can tell exactly which parts of it are damaged. Only for
  // records known to have been durable: a torn write could be explained the same way.
  std::optional<WholeRecord> explained_record() const {
    if (request_.explain == nullptr || !*request_.explain) return std::nullopt;
    if (!expected_header_here()) return std::nullopt;
    const char* const bytes = image_.bytes.data() + scan_.end;
    const RecordHeader header = load_record_header(bytes);
    if (header.kind == RecordKind::skip || !fits(image_, scan_.end, header)) return std::nullopt;
    const WholeRecord record = view(image_, scan_.end, header);
    const std::vector<Stretch> damaged = (*request_.explain)(record.payload);
    const bool whole =
        !damaged.empty() && record_checksum(image_.number, bytes, damaged) == header.checksum;
    return whole ? std::optional(record) : std::nullopt;
  }

  Damage damage_up_to(std::uint32_t to, Sequence next) const {
    return {.from = scan_.end,
            .to = to,
            .first_lost = scan_.next,
            .lost = next > scan_.next ? next - scan_.next : 0};
  }

  // Whether this record, or a later one, proves that the missing one was durable before it.
  bool proves_damage(WholeRecord record) const {
    while (record.header.watermark() < scan_.next) {
      const auto next = find_record(image_, record.end, record.header.next());
      if (!next) return false;
      record = *next;
    }
    return true;
  }

  // Compares with the segment's end and next sequence as recorded by its successor.
  void check_seal() {
    if (!request_.sealed_before) return;
    if (scan_.end == image_.limit && scan_.next == *request_.sealed_before) return;
    scan_.damage.push_back(damage_up_to(image_.limit, *request_.sealed_before));
    scan_.end = image_.limit;
    scan_.next = *request_.sealed_before;
  }

  // Whether the expected header is here, so that only the rest of the record is torn. Old bytes of
  // a recycled file do not match, because their sequences are smaller.
  bool expected_header_here() const {
    if (!header_inside(image_, scan_.end)) return false;
    const RecordHeader header = load_record_header(image_.bytes.data() + scan_.end);
    return known(header) && header.sequence == scan_.next;
  }

  const ScanRequest& request_;
  const SegmentImage& image_;
  const VisitRecord& visit_;
  Scan scan_;
};

}  // namespace

Result<std::optional<WholeRecord>> record_at(const SegmentImage& image, std::uint32_t offset) {
  if (!header_inside(image, offset)) return std::nullopt;
  const RecordHeader header = load_record_header(image.bytes.data() + offset);
  if (!fits(image, offset, header) || !checksum_matches(image, offset, header)) return std::nullopt;
  if (!known(header)) {
    return fail(ErrorCode::storage_foreign, "a record has an unknown version or kind");
  }
  return view(image, offset, header);
}

std::optional<WholeRecord> find_record(const SegmentImage& image, std::uint64_t offset,
                                       Sequence sequence) {
  assert(offset % kRecordAlignment == 0);
  for (; header_inside(image, offset); offset += kRecordAlignment) {
    if (!may_be_header(image.bytes.data() + offset)) continue;
    const RecordHeader header = load_record_header(image.bytes.data() + offset);
    const auto at = static_cast<std::uint32_t>(offset);
    if (!known(header) || header.sequence < sequence || !fits(image, at, header)) continue;
    if (checksum_matches(image, at, header)) return view(image, at, header);
  }
  return std::nullopt;
}

Result<Scan> scan_records(const ScanRequest& request, const VisitRecord& visit) {
  return Scanner(request, visit).run();
}

}  // namespace redrive::journal
