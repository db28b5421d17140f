#include "core/journal/scan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/digest.h"

namespace redrive::journal {
namespace {

constexpr std::uint32_t kNumber = 5;
constexpr std::uint32_t kLimit = 4096;
constexpr std::uint32_t kRecord = 48;  // Header and 24 bytes of payload.

// A segment with records 1, 2, …; record i is at `at(i)`. `durable[i]` is what was known to be
// synced when record i + 1 was written.
class SegmentBytes {
 public:
  explicit SegmentBytes(const std::vector<Sequence>& durable) : bytes_(kLimit, '\0') {
    Sequence sequence = 0;
    for (const Sequence watermark : durable) {
      char* const record = bytes_.data() + at(++sequence);
      store_record_header(record, {.length = 24, .sequence = sequence});
      std::fill_n(record + kRecordHeaderBytes, 24, static_cast<char>('a' + sequence));
      seal_records(kNumber, watermark, record, kRecord);
    }
    count_ = sequence;
  }

  static std::uint32_t at(Sequence sequence) {
    return kSegmentHeaderBytes + static_cast<std::uint32_t>(sequence - 1) * kRecord;
  }

  void damage(Sequence sequence) { bytes_[at(sequence) + 30] ^= 1; }

  Scan scan(bool sealed) const {
    ScanRequest request{.image = {bytes_, kNumber, kLimit}};
    if (sealed) {
      request.image.limit = at(count_ + 1);
      request.sealed_before = count_ + 1;
    }
    auto found = scan_records(request, [](const WholeRecord&) { return Result<void>(); });
    EXPECT_TRUE(found.has_value());
    return *found;
  }

  std::string bytes_;
  Sequence count_ = 0;
};

struct Case {
  const char* name;
  std::vector<Sequence> durable;  // For each record, oldest first.
  std::vector<Sequence> broken;
  std::vector<Damage> damage;
  Sequence next;
  bool torn;
};

constexpr auto at = SegmentBytes::at;

const Case kCases[] = {
    {"whole", {0, 1, 2}, {}, {}, 4, false},
    {"the last record, nothing behind it", {0, 1, 2}, {3}, {}, 3, true},
    {"one batch, torn in the middle", {0, 0, 0, 0}, {2}, {}, 2, true},
    {"a batch torn behind a synced one", {0, 0, 2, 2, 2}, {4}, {}, 4, true},
    {"synced, shown by the next record", {0, 1, 2}, {2}, {{at(2), at(3), 2, 1}}, 4, false},
    {"synced, shown only by a later one", {0, 0, 0, 3}, {2}, {{at(2), at(3), 2, 1}}, 5, false},
    {"the first record", {0, 1}, {1}, {{at(1), at(2), 1, 1}}, 3, false},
    {"two in a row", {0, 1, 2, 3}, {2, 3}, {{at(2), at(4), 2, 2}}, 5, false},
    {"damage, then a torn end", {0, 1, 2, 3, 3, 3}, {2, 5}, {{at(2), at(3), 2, 1}}, 5, true},
};

TEST(ScanRecords, TellsATornEndFromDamage) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    SegmentBytes segment(c.durable);
    for (const Sequence broken : c.broken) segment.damage(broken);
    const Scan scan = segment.scan(false);
    EXPECT_EQ(scan.damage, c.damage);
    EXPECT_EQ(scan.next, c.next);
    EXPECT_EQ(scan.end, at(c.next));
    EXPECT_EQ(scan.torn, c.torn);
  }
}

// If the successor says where a segment ends, there is no torn end.
TEST(ScanRecords, InASealedSegmentEverythingUnreadableIsDamage) {
  SegmentBytes segment({0, 0, 0, 0});
  EXPECT_TRUE(segment.scan(true).damage.empty());
  segment.damage(4);
  EXPECT_EQ(segment.scan(true).damage, (std::vector<Damage>{{at(4), at(5), 4, 1}}));
  segment.damage(2);
  EXPECT_EQ(segment.scan(true).damage,
            (std::vector<Damage>{{at(2), at(3), 2, 1}, {at(4), at(5), 4, 1}}));
}

// Bytes 4 to 12 of every payload have a checksum known from elsewhere.
struct Explained {
  SegmentBytes segment{{0, 1, 2, 3}};
  std::vector<std::uint32_t> sums;
  std::vector<Sequence> replayed;
  std::uint32_t wrong = 0;

  Explained() {
    for (Sequence i = 1; i <= 4; ++i) {
      const char* const payload = segment.bytes_.data() + at(i) + kRecordHeaderBytes;
      sums.push_back(crc32c(std::string_view(payload + 4, 8)));
    }
  }
  Scan scan() {
    const Explain explain = [&](std::string_view payload) -> std::vector<Stretch> {
      const auto i = static_cast<std::size_t>(payload[0] - 'b');
      if (crc32c(payload.substr(4, 8)) == sums[i]) return {};
      return {{.offset = 4, .size = 8, .crc = sums[i] ^ wrong}};
    };
    replayed.clear();
    auto found = scan_records({.image = {segment.bytes_, kNumber, kLimit}, .explain = &explain},
                              [&](const WholeRecord& record) {
                                replayed.push_back(record.header.sequence);
                                return Result<void>();
                              });
    EXPECT_TRUE(found.has_value());
    return *found;
  }
  void flip(Sequence sequence, std::uint32_t offset) { segment.bytes_[at(sequence) + offset] ^= 4; }
};

TEST(ScanRecords, DamageThatIsExplainedToTheLastByteLeavesTheRecord) {
  Explained known;
  known.flip(2, kRecordHeaderBytes + 4);
  known.flip(2, kRecordHeaderBytes + 11);
  known.flip(3, kRecordHeaderBytes + 7);
  const Scan scan = known.scan();
  EXPECT_TRUE(scan.damage.empty());
  EXPECT_EQ(scan.explained, (std::vector<std::uint32_t>{at(2), at(3)}));
  EXPECT_EQ(known.replayed, (std::vector<Sequence>{1, 2, 3, 4}));
}

TEST(ScanRecords, AnExplanationThatDoesNotAddUpIsNone) {
  Explained known;
  known.flip(2, kRecordHeaderBytes + 5);
  known.wrong = 1;
  EXPECT_EQ(known.scan().damage, (std::vector<Damage>{{at(2), at(3), 2, 1}}));
  known.wrong = 0;
  known.flip(2, kRecordHeaderBytes + 20);  // Outside the bytes with a known checksum.
  EXPECT_EQ(known.scan().damage, (std::vector<Damage>{{at(2), at(3), 2, 1}}));
}

// It may never have been written completely, so it was never acknowledged.
TEST(ScanRecords, ATornEndIsNotExplained) {
  Explained known;
  known.flip(4, kRecordHeaderBytes + 5);
  const Scan scan = known.scan();
  EXPECT_TRUE(scan.torn);
  EXPECT_TRUE(scan.explained.empty());
  EXPECT_EQ(known.replayed, (std::vector<Sequence>{1, 2, 3}));
}

TEST(ScanRecords, RecordsOfTheFilesFormerLifeAreNoRecords) {
  SegmentBytes segment({0, 1, 2});
  ScanRequest request{.image = {segment.bytes_, kNumber + 1, kLimit}};
  const auto scan = scan_records(request, [](const WholeRecord&) { return Result<void>(); });
  ASSERT_TRUE(scan.has_value());
  EXPECT_EQ(scan->records, 0u);
  EXPECT_TRUE(scan->damage.empty());
}

TEST(ScanRecords, AWholeRecordOfAnUnknownKindIsForeign) {
  SegmentBytes segment({0, 1});
  char* const record = segment.bytes_.data() + at(2);
  RecordHeader header = load_record_header(record);
  header.kind = static_cast<RecordKind>(9);
  store_record_header(record, header);
  header.checksum = record_checksum(kNumber, record);
  store_record_header(record, header);
  const auto scan = scan_records({.image = {segment.bytes_, kNumber, kLimit}},
                                 [](const WholeRecord&) { return Result<void>(); });
  ASSERT_FALSE(scan.has_value());
  EXPECT_EQ(scan.error().code, ErrorCode::storage_foreign);
}

}  // namespace
}  // namespace redrive::journal
