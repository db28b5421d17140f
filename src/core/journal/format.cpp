#include "core/journal/format.h"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>
#include <cstring>

#include "base/digest.h"
#include "base/text.h"

namespace redrive::journal {
namespace {

constexpr std::string_view kSegmentSuffix = ".seg";
constexpr std::string_view kSparePrefix = "spare-";

std::uint32_t segment_seed(std::uint32_t segment) {
  char bytes[sizeof segment];
  std::memcpy(bytes, &segment, sizeof segment);
  return crc32c({bytes, sizeof bytes});
}

std::uint32_t seeded_checksum(std::uint32_t seed, const char* record, const RecordHeader& header) {
  const std::size_t end = header.kind == RecordKind::skip ? std::size_t{kRecordHeaderBytes}
                                                          : record_bytes(header.length);
  constexpr std::size_t kFrom = sizeof header.checksum;
  return crc32c({record + kFrom, end - kFrom}, seed);
}

template <class Block>
std::string_view bytes_of(const Block& block) {
  return {reinterpret_cast<const char*>(&block), sizeof block};
}

template <class Block>
std::uint32_t block_checksum(Block block) {
  block.checksum = 0;
  return crc32c(bytes_of(block));
}

template <class Block>
std::string encode_block(Block block) {
  block.checksum = block_checksum(block);
  return std::string(bytes_of(block));
}

// Check the version before the checksum: another version may store the checksum elsewhere.
template <class Block>
std::expected<Block, Unreadable> decode_block(std::string_view bytes) {
  Block block;
  const Magic magic = block.magic;
  if (bytes.size() < sizeof block) return std::unexpected(Unreadable::damaged);
  std::memcpy(&block, bytes.data(), sizeof block);
  if (block.magic != magic) return std::unexpected(Unreadable::damaged);
  if (block.version != kFormatVersion) return std::unexpected(Unreadable::foreign);
  if (block.checksum != block_checksum(block)) return std::unexpected(Unreadable::damaged);
  return block;
}

bool plausible(const SegmentHeader& header, std::uint32_t number) {
  return header.number == number && header.first_sequence > 0 &&
         header.segment_bytes >= kSegmentBytesMin && header.segment_bytes % kRecordAlignment == 0 &&
         header.previous_end % kRecordAlignment == 0;
}

std::optional<std::uint32_t> parse_number(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || !name.ends_with(kSegmentSuffix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (name.size() < kSegmentSuffix.size()) return std::nullopt;
  name.remove_suffix(kSegmentSuffix.size());
  return parse_int<std::uint32_t>(name);
}

}  // namespace

std::uint32_t record_checksum(std::uint32_t segment, const char* record) {
  return seeded_checksum(segment_seed(segment), record, load_record_header(record));
}

std::uint32_t record_checksum(std::uint32_t segment, const char* record,
                              std::span<const Stretch> damaged) {
  const RecordHeader header = load_record_header(record);
  const std::string_view bytes(record, record_bytes(header.length));
  std::uint32_t sum = segment_seed(segment);
  std::size_t at = sizeof header.checksum;
  for (const Stretch& stretch : damaged) {
    const std::size_t begin = kRecordHeaderBytes + stretch.offset;
    assert(at <= begin && begin + stretch.size <= bytes.size());
    sum = crc32c(bytes.substr(at, begin - at), sum);
    sum = crc32c_join(sum, stretch.crc, stretch.size);
    at = begin + stretch.size;
  }
  return crc32c(bytes.substr(at), sum);
}

void seal_records(std::uint32_t segment, Sequence durable, char* bytes, std::size_t size) {
  const std::uint32_t seed = segment_seed(segment);
  std::size_t at = 0;
  while (at < size) {
    RecordHeader header = load_record_header(bytes + at);
    header.unsynced = static_cast<std::uint32_t>(header.sequence - 1 - durable);
    store_record_header(bytes + at, header);
    header.checksum = seeded_checksum(seed, bytes + at, header);
    store_record_header(bytes + at, header);
    at += record_bytes(header.length);
  }
  assert(at == size);
}

RecordHeader load_record_header(const char* bytes) {
  RecordHeader header;
  std::memcpy(&header, bytes, sizeof header);
  return header;
}

void store_record_header(char* bytes, const RecordHeader& header) {
  std::memcpy(bytes, &header, sizeof header);
}

std::string encode_segment_header(SegmentHeader header) {
  return encode_block(header);
}

std::string encode_manifest(const Manifest& manifest) {
  ManifestBytes bytes;
  bytes.sequence = manifest.checkpoint.sequence;
  bytes.segment = manifest.checkpoint.record.segment;
  bytes.offset = manifest.checkpoint.record.offset;
  bytes.durable = manifest.durable;
  return encode_block(bytes);
}

std::expected<SegmentHeader, Unreadable> decode_segment_header(std::string_view bytes,
                                                               std::uint32_t number) {
  const auto header = decode_block<SegmentHeader>(bytes);
  if (header && !plausible(*header, number)) return std::unexpected(Unreadable::damaged);
  return header;
}

std::expected<Manifest, Unreadable> decode_manifest(std::string_view bytes) {
  const auto block = decode_block<ManifestBytes>(bytes);
  if (!block) return std::unexpected(block.error());
  const Checkpoint checkpoint{.sequence = block->sequence,
                              .record = {block->segment, block->offset}};
  const bool possible = checkpoint.sequence > 0 && checkpoint.record.segment > 0 &&
                        checkpoint.record.offset >= kSegmentHeaderBytes &&
                        checkpoint.record.offset % kRecordAlignment == 0;
  if (!possible) return std::unexpected(Unreadable::damaged);
  return Manifest{.checkpoint = checkpoint, .durable = block->durable};
}

std::string segment_name(std::uint32_t number) {
  return fmt::format("{:010}{}", number, kSegmentSuffix);
}

std::string spare_name(std::uint32_t number) {
  return fmt::format("{}{}{}", kSparePrefix, number, kSegmentSuffix);
}

std::optional<std::uint32_t> parse_segment_name(std::string_view name) {
  const auto number = parse_number(name, "");
  if (!number || *number == 0 || segment_name(*number) != name) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> parse_spare_name(std::string_view name) {
  const auto number = parse_number(name, kSparePrefix);
  if (!number || spare_name(*number) != name) return std::nullopt;
  return number;
}

}  // namespace redrive::journal
