#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/journal/journal.h"

// The on-disk format of a journal; docs/formats/journal.md describes it. No file I/O here.
//
// Numbers are little-endian. The structs below are the on-disk layout and are copied as they are;
// the assertions make an unsuitable platform fail to compile.
namespace redrive::journal {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint32_t kFormatVersion = 1;
inline constexpr std::uint32_t kSegmentHeaderBytes = 64;
inline constexpr std::uint32_t kRecordHeaderBytes = 24;
inline constexpr std::uint32_t kRecordAlignment = 8;
inline constexpr std::uint32_t kSegmentBytesMin = 4096;

inline constexpr std::string_view kManifestName = "manifest";
inline constexpr std::string_view kManifestTemporaryName = "manifest.tmp";
inline constexpr std::string_view kLockName = "lock";
inline constexpr std::string_view kDamagedSuffix = ".damaged";

using Magic = std::array<char, 8>;
inline constexpr Magic kSegmentMagic = {'R', 'D', 'R', 'V', 'S', 'E', 'G', 'M'};
inline constexpr Magic kManifestMagic = {'R', 'D', 'R', 'V', 'M', 'A', 'N', 'I'};

enum class RecordKind : std::uint8_t {
  data = 1,
  skip = 2,  // Written by repair in place of an unreadable range.
  checkpoint_begin = 3,
  checkpoint_end = 4,
};

struct RecordHeader {
  std::uint32_t checksum = 0;  // See record_checksum().
  std::uint32_t length = 0;    // Payload size without padding.
  std::uint64_t sequence = 0;
  // How many records before this one were not known to be durable when it was written. In a skip
  // record: how many sequences the replaced range had, starting with `sequence`.
  std::uint32_t unsynced = 0;
  std::uint8_t version = kFormatVersion;
  RecordKind kind = RecordKind::data;
  std::uint16_t zero = 0;

  // All records up to this one were durable before this record was written.
  Sequence watermark() const {
    return kind == RecordKind::skip ? sequence - 1 : sequence - 1 - unsynced;
  }
  // The sequence of the next record.
  Sequence next() const { return kind == RecordKind::skip ? sequence + unsynced : sequence + 1; }
};
static_assert(sizeof(RecordHeader) == kRecordHeaderBytes);

struct SegmentHeader {
  Magic magic = kSegmentMagic;
  std::uint32_t version = kFormatVersion;
  std::uint32_t checksum = 0;  // Over all 64 bytes, with this field zero.
  std::uint32_t number = 0;
  std::uint32_t segment_bytes = 0;
  std::uint64_t first_sequence = 0;  // One more than the last of the previous segment.
  std::uint32_t previous = 0;        // Its number; 0 before the first.
  // Where the previous segment's records end; later bytes are void.
  std::uint32_t previous_end = 0;
  std::array<char, 24> zero{};
};
static_assert(sizeof(SegmentHeader) == kSegmentHeaderBytes);

// Where replay starts.
struct Checkpoint {
  Sequence sequence = 1;
  Location record{1, kSegmentHeaderBytes};  // Position of the record's header, not of its payload.

  bool operator==(const Checkpoint&) const = default;
};

struct Manifest {
  Checkpoint checkpoint;
  // All records up to this one were durable when the manifest was written: if one is missing, the
  // journal is damaged, not torn.
  Sequence durable = 0;
};

struct ManifestBytes {
  Magic magic = kManifestMagic;
  std::uint32_t version = kFormatVersion;
  std::uint32_t checksum = 0;  // Over all 64 bytes, with this field zero.
  std::uint64_t sequence = 0;
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;
  std::uint64_t durable = 0;
  std::array<char, 24> zero{};
};
static_assert(sizeof(ManifestBytes) == 64);

constexpr std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

// Size of a record with this payload, including header and padding.
constexpr std::uint64_t record_bytes(std::uint64_t payload_bytes) {
  return kRecordHeaderBytes + aligned(payload_bytes);
}

// The largest payload that fits in a segment of this size.
constexpr std::size_t largest_payload(std::uint32_t segment_bytes) {
  return segment_bytes - kSegmentHeaderBytes - kRecordHeaderBytes;
}

// The checksum of the record whose header starts at `record`; the record must be completely in
// memory. It is seeded with the segment number, so that old records in a recycled file never match.
// It covers the header after the checksum field, the payload and the padding; for a skip record
// only the header, because the damaged range follows it.
std::uint32_t record_checksum(std::uint32_t segment, const char* record);

// The same, computed as if the `damaged` parts of the payload still had their original content.
std::uint32_t record_checksum(std::uint32_t segment, const char* record,
                              std::span<const Stretch> damaged);

// Fills in `unsynced` and the checksum of every record in `bytes`, which must contain whole
// records.
void seal_records(std::uint32_t segment, Sequence durable, char* bytes, std::size_t size);

RecordHeader load_record_header(const char* bytes);
void store_record_header(char* bytes, const RecordHeader& header);

// Computes the checksum.
std::string encode_segment_header(SegmentHeader header);
std::string encode_manifest(const Manifest& manifest);

// Why bytes could not be decoded.
enum class Unreadable {
  damaged,  // Not what was written.
  foreign,  // Not a journal, or an unsupported version.
};

// Refuses a header whose number differs from the one in the file name.
std::expected<SegmentHeader, Unreadable> decode_segment_header(std::string_view bytes,
                                                               std::uint32_t number);
std::expected<Manifest, Unreadable> decode_manifest(std::string_view bytes);

// 0000000012.seg and spare-3.seg.
std::string segment_name(std::uint32_t number);
std::string spare_name(std::uint32_t number);
std::optional<std::uint32_t> parse_segment_name(std::string_view name);
std::optional<std::uint32_t> parse_spare_name(std::string_view name);

}  // namespace redrive::journal
