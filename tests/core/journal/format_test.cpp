#include "core/journal/format.h"

#include <gtest/gtest.h>

#include <cstring>

namespace redrive::journal {
namespace {

TEST(Format, NamesAreReadBackAndOthersRefused) {
  EXPECT_EQ(segment_name(12), "0000000012.seg");
  EXPECT_EQ(parse_segment_name("0000000012.seg"), 12u);
  EXPECT_EQ(parse_segment_name("4294967295.seg"), 4294967295u);
  EXPECT_EQ(parse_spare_name("spare-3.seg"), 3u);
  for (const char* name : {"",
                           ".seg",
                           "12.seg",
                           "0000000000.seg",
                           "0000000012.seg.damaged",
                           "4294967296.seg",
                           "-000000012.seg",
                           "spare-3.seg"}) {
    EXPECT_EQ(parse_segment_name(name), std::nullopt) << name;
  }
  for (const char* name :
       {"spare-.seg", "spare-03.seg", "spare-3", "spare-x.seg", "0000000012.seg"}) {
    EXPECT_EQ(parse_spare_name(name), std::nullopt) << name;
  }
}

SegmentHeader some_header() {
  SegmentHeader header;
  header.number = 7;
  header.segment_bytes = 8192;
  header.first_sequence = 100;
  header.previous = 6;
  header.previous_end = 4000;
  return header;
}

TEST(Format, ASegmentHeaderSurvivesTheRoundTrip) {
  const auto back = decode_segment_header(encode_segment_header(some_header()), 7);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->segment_bytes, 8192u);
  EXPECT_EQ(back->first_sequence, 100u);
  EXPECT_EQ(back->previous, 6u);
  EXPECT_EQ(back->previous_end, 4000u);
}

// A header with any single flipped bit is rejected.
TEST(Format, NoFlippedBitOfASegmentHeaderPasses) {
  const std::string good = encode_segment_header(some_header());
  ASSERT_EQ(good.size(), kSegmentHeaderBytes);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode_segment_header(bad, 7).has_value()) << "bit " << bit;
  }
}

TEST(Format, AHeaderUnderAnotherNumberIsDamage) {
  const auto header = decode_segment_header(encode_segment_header(some_header()), 8);
  ASSERT_FALSE(header.has_value());
  EXPECT_EQ(header.error(), Unreadable::damaged);
}

TEST(Format, AnotherVersionIsForeign) {
  std::string bytes = encode_segment_header(some_header());
  bytes[8] = 2;
  EXPECT_EQ(decode_segment_header(bytes, 7).error(), Unreadable::foreign);
  std::string manifest = encode_manifest({});
  manifest[8] = 2;
  EXPECT_EQ(decode_manifest(manifest).error(), Unreadable::foreign);
}

TEST(Format, AManifestSurvivesTheRoundTrip) {
  const Manifest manifest{.checkpoint = {.sequence = 55, .record = {3, 128}}, .durable = 70};
  const std::string bytes = encode_manifest(manifest);
  const auto back = decode_manifest(bytes);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->checkpoint, manifest.checkpoint);
  EXPECT_EQ(back->durable, 70u);
  EXPECT_EQ(decode_manifest(bytes.substr(1)).error(), Unreadable::damaged);
  EXPECT_EQ(decode_manifest("").error(), Unreadable::damaged);
}

// The layout is a promise to existing files: it may change only together with the version.
TEST(Format, TheBytesOfARecordAreFixed) {
  std::string record(record_bytes(5), '\0');
  store_record_header(record.data(), {.length = 5, .sequence = 9});
  std::memcpy(record.data() + kRecordHeaderBytes, "hello", 5);
  seal_records(4, 6, record.data(), record.size());

  ASSERT_EQ(record.size(), 32u);
  EXPECT_EQ(record.substr(4, 4), std::string("\x05\0\0\0", 4));
  EXPECT_EQ(record.substr(8, 8), std::string("\x09\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(record.substr(16, 4), std::string("\x02\0\0\0", 4));  // 7 and 8 were not synced.
  EXPECT_EQ(record.substr(20, 4), std::string("\x01\x01\0\0", 4));
  EXPECT_EQ(load_record_header(record.data()).watermark(), 6u);
  EXPECT_EQ(load_record_header(record.data()).checksum, record_checksum(4, record.data()));
}

TEST(Format, TheChecksumBelongsToTheSegment) {
  std::string record(record_bytes(5), 'x');
  store_record_header(record.data(), {.length = 5, .sequence = 9});
  EXPECT_NE(record_checksum(4, record.data()), record_checksum(5, record.data()));
}

}  // namespace
}  // namespace redrive::journal
