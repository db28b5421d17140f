#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "journal/format.h"

// Reads the records of one segment, and tells a torn end from damage. Pure: bytes in, findings out.
namespace redrive::journal {

// A record whose checksum is right.
struct WholeRecord {
  RecordHeader header;
  std::uint32_t offset = 0;  // Of its header.
  std::uint32_t end = 0;
  std::string_view payload;  // Empty for a skip record.
};

// The bytes of a segment, or as many as the file has, and where its records must have ended.
struct SegmentImage {
  std::string_view bytes;
  std::uint32_t number = 0;
  std::uint32_t limit = 0;
};

// The record at this offset. storage_foreign when it is whole but of an unknown version or kind,
// nullopt when it is not whole.
Result<std::optional<WholeRecord>> record_at(const SegmentImage& image, std::uint32_t offset);

// The first whole record at `offset` or behind it whose sequence is `sequence` or later.
std::optional<WholeRecord> find_record(const SegmentImage& image, std::uint64_t offset,
                                       Sequence sequence);

// Bytes that should be records and are not. At least as long as a record's header, because it
// begins where a record began and ends where one begins or the segment ends.
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
  // Set when the successor is there to tell: the records end exactly at the image's limit, and the
  // next one has this sequence. Otherwise the last records may never have become durable.
  std::optional<Sequence> sealed_before;
  bool stop_at_damage = false;  // Otherwise goes on behind it.
  const Explain* explain = nullptr;
};

struct Scan {
  std::vector<Damage> damage;
  std::uint32_t end = 0;  // Of the last record, or of the damage behind it.
  Sequence next = 0;      // The sequence that would follow.
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;               // Of whole records.
  std::vector<std::uint32_t> explained;  // Where records begin that are whole but for some parts.
  bool torn = false;                     // Behind the end lies part of what was being written.
};

// Called for every whole record but skips, in order. An error ends the scan.
using VisitRecord = std::function<Result<void>(const WholeRecord&)>;

// Walks over the records. A record counts only when it is whole and its sequence is the one
// expected. For what does not count, see docs/formats/journal.md, "Torn or damaged".
Result<Scan> scan_records(const ScanRequest& request, const VisitRecord& visit);

}  // namespace redrive::journal
