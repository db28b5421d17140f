#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "journal/journal.h"

// The bytes of a journal, as docs/formats/journal.md draws them: what is written and how it is
// recognised again. Nothing here touches a file.
//
// Numbers are little-endian. The structs below are the bytes themselves, so they are copied, not
// coded; the assertions make a machine where that is wrong fail to compile.
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
  skip = 2,  // Left by repair in the place of a range that could not be read.
  checkpoint_begin = 3,
  checkpoint_end = 4,
};

struct RecordHeader {
  std::uint32_t checksum = 0;  // See record_checksum().
  std::uint32_t length = 0;    // Of the payload, without padding.
  std::uint64_t sequence = 0;
  // How many records before this one were not known to be durable when this one was written. In a
  // skip record: how many sequences the range it replaces had, beginning with `sequence`.
  std::uint32_t unsynced = 0;
  std::uint8_t version = kFormatVersion;
  RecordKind kind = RecordKind::data;
  std::uint16_t zero = 0;

  // Everything up to here was durable before this record was written.
  Sequence watermark() const {
    return kind == RecordKind::skip ? sequence - 1 : sequence - 1 - unsynced;
  }
  // The sequence of the record that follows.
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
  std::uint32_t previous_end = 0;    // Exactly where it ends; what lies behind is void.
  std::array<char, 24> zero{};
};
static_assert(sizeof(SegmentHeader) == kSegmentHeaderBytes);

// Where a replay begins.
struct Checkpoint {
  Sequence sequence = 1;
  Location record{1, kSegmentHeaderBytes};  // Of the record's header, not of its payload.

  bool operator==(const Checkpoint&) const = default;
};

struct Manifest {
  Checkpoint checkpoint;
  // Everything up to here was durable when the manifest was written: if it is not there any more,
  // it was damaged and not torn.
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

// What a record with this payload takes, with its header and padding.
constexpr std::uint64_t record_bytes(std::uint64_t payload_bytes) {
  return kRecordHeaderBytes + aligned(payload_bytes);
}

// The largest payload a segment of this size can hold.
constexpr std::size_t largest_payload(std::uint32_t segment_bytes) {
  return segment_bytes - kSegmentHeaderBytes - kRecordHeaderBytes;
}

// The checksum of the record whose header begins at `record` (and which is whole in memory). It is
// seeded with the segment's number, so that what a recycled file held in its former life never
// passes. It covers the header behind the checksum, the payload and the padding; of a skip record
// only the header, because what follows is the damage it replaces.
std::uint32_t record_checksum(std::uint32_t segment, const char* record);

// The same, as if these parts of the payload were what they were when it was written.
std::uint32_t record_checksum(std::uint32_t segment, const char* record,
                              std::span<const Stretch> damaged);

// Fills in `unsynced` and the checksum of every record in `bytes`, which begins with one and ends
// with one.
void seal_records(std::uint32_t segment, Sequence durable, char* bytes, std::size_t size);

RecordHeader load_record_header(const char* bytes);
void store_record_header(char* bytes, const RecordHeader& header);

// Sets the checksum.
std::string encode_segment_header(SegmentHeader header);
std::string encode_manifest(const Manifest& manifest);

// Why bytes could not be understood.
enum class Unreadable {
  damaged,  // They are not what was written.
  foreign,  // They are not ours, or of a version this program does not know.
};

// Refuses a header whose number is not the one expected from the file's name.
std::expected<SegmentHeader, Unreadable> decode_segment_header(std::string_view bytes,
                                                               std::uint32_t number);
std::expected<Manifest, Unreadable> decode_manifest(std::string_view bytes);

// 0000000012.seg and spare-3.seg.
std::string segment_name(std::uint32_t number);
std::string spare_name(std::uint32_t number);
std::optional<std::uint32_t> parse_segment_name(std::string_view name);
std::optional<std::uint32_t> parse_spare_name(std::string_view name);

}  // namespace redrive::journal
