#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/journal/format.h"

// Reads the records of one segment and distinguishes a torn end from damage. Pure: bytes in,
// findings out.
namespace redrive::journal {

// A record with a correct checksum.
struct WholeRecord {
  RecordHeader header;
  std::uint32_t offset = 0;  // Of its header.
  std::uint32_t end = 0;
  std::string_view payload;  // Empty for a skip record.
};

// The bytes of a segment (fewer if the file is short), and the upper bound for the end of its
// records.
struct SegmentImage {
  std::string_view bytes;
  std::uint32_t number = 0;
  std::uint32_t limit = 0;
};

// The record at this offset; nullopt if it is not intact. Fails with storage_foreign if it is
// intact but has an unknown version or kind.
Result<std::optional<WholeRecord>> record_at(const SegmentImage& image, std::uint32_t offset);

// The first intact record at or after `offset` whose sequence is at least `sequence`.
std::optional<WholeRecord> find_record(const SegmentImage& image, std::uint64_t offset,
                                       Sequence sequence);

// A range that should contain records but does not. At least as long as a record header, because it
// starts where a record started and ends at another record or at the end of the segment.
struct Damage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Sequence first_lost = 0;
  std::uint64_t lost = 0;

  bool operator==(const Damage&) const = default;
};

struct ScanRequest {
  SegmentImage image;
  std::uint32_t from = kSegmentHeaderBytes;
  Sequence sequence = 1;  // Of the first record.
  // Set if the successor exists: the records end exactly at the image's limit, and the next one has
  // this sequence. Otherwise the last records may never have become durable.
  std::optional<Sequence> sealed_before;
  bool stop_at_damage = false;  // Otherwise continues after it.
  const Explain* explain = nullptr;
};

struct Scan {
  std::vector<Damage> damage;
  std::uint32_t end = 0;  // End of the last record, or of the damage after it.
  Sequence next = 0;      // The next sequence.
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  // Of intact records.
  // Offsets of records that are intact except for known parts.
  std::vector<std::uint32_t> explained;
  bool torn = false;  // A partially written record follows the end.
};

// Called for every intact record except skips, in order. An error ends the scan.
using VisitRecord = std::function<Result<void>(const WholeRecord&)>;

// Walks over the records. A record is valid only if it is intact and has the expected sequence. For
// anything else see docs/formats/journal.md, "Torn or damaged".
Result<Scan> scan_records(const ScanRequest& request, const VisitRecord& visit);

}  // namespace redrive::journal
