#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/ids.h"
#include "tests/core/journal/journal_testing.h"

namespace redrive::journal {
namespace {

using sim::FaultyFiles;

std::map<std::string, std::string> all_bytes(FaultyFiles& files) {
  std::map<std::string, std::string> out;
  const auto names = files.list().value();
  for (const std::string& name : names) out[name] = *files.bytes(name);
  return out;
}

CheckReport must_check(FaultyFiles& files) {
  const auto before = all_bytes(files);
  const auto report = check_journal(files);
  EXPECT_TRUE(report.has_value()) << report.error().message;
  EXPECT_EQ(all_bytes(files), before);
  return report.value_or(CheckReport{.healthy = false});
}

bool mentions(const CheckReport& report, const std::string& text) {
  return std::any_of(report.lines.begin(), report.lines.end(), [&](const std::string& line) {
    return line.find(text) != std::string::npos;
  });
}

// Records 1 to 24, three to a segment; 13 and 14 are a checkpoint. Old segments are all held.
class Damaged : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = must_open(files_);
    Journal& journal = *opened.journal;
    Sequence begin = 0;
    while (journal.appended() < 24) {
      const Sequence next = journal.appended() + 1;
      records_[next] = numbered(next, 1200);
      const std::string_view payload = records_[next];
      const Appended at = next == 13   ? journal.append_checkpoint_begin(std::span(&payload, 1))
                          : next == 14 ? journal.append_checkpoint_end(std::span(&payload, 1))
                                       : journal.append(payload);
      at_[next] = at.payload;
      journal.hold(at.payload.segment, 1200);
      if (next == 13) begin = next;
      must_sync(journal);
      if (next != 14) continue;
      ASSERT_TRUE(journal.set_checkpoint(begin).has_value());
    }
    must_housekeep(journal);
    ASSERT_EQ(at_[24].segment, 8u);
    ASSERT_EQ(at_[13].segment, 5u);
  }

  void flip(Sequence record, std::uint32_t byte = 600) {
    files_.flip_bit(segment_name(at_[record].segment), at_[record].offset + byte, 2);
  }

  // Check finds the damage, repair fixes it, and then everything except `lost` is replayed from
  // `first` on.
  void expect_repaired(const std::set<Sequence>& lost, Sequence first = 13) {
    EXPECT_FALSE(must_check(files_).healthy);
    const auto before = all_bytes(files_);
    const auto report = repair_journal(files_);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->healthy) << ::testing::PrintToString(report->lines);
    EXPECT_TRUE(must_check(files_).healthy) << ::testing::PrintToString(must_check(files_).lines);
    expect_originals_kept(before);

    std::map<Sequence, std::string> expected(records_.lower_bound(first), records_.end());
    for (const Sequence sequence : lost) expected.erase(sequence);
    auto opened = must_open(files_);
    EXPECT_EQ(opened.replayed, expected);
    for (const auto& [sequence, location] : opened.locations) EXPECT_EQ(location, at_[sequence]);
    EXPECT_EQ(opened.journal->append("goes on").sequence, expected.rbegin()->first + 1);
    must_sync(*opened.journal);
    EXPECT_TRUE(must_check(files_).healthy);
  }

  void expect_originals_kept(const std::map<std::string, std::string>& before) {
    for (const auto& [name, bytes] : before) {
      if (name == kManifestTemporaryName || *files_.bytes(name) == bytes) continue;
      EXPECT_EQ(files_.bytes(name + ".damaged"), bytes) << name;
    }
  }

  FaultyFiles files_;
  std::map<Sequence, std::string> records_;
  std::map<Sequence, Location> at_;
};

TEST_F(Damaged, AHealthyJournalIsLeftAlone) {
  EXPECT_TRUE(must_check(files_).healthy);
  const auto before = all_bytes(files_);
  EXPECT_TRUE(repair_journal(files_)->healthy);
  EXPECT_EQ(all_bytes(files_), before);
}

TEST_F(Damaged, CheckNamesFileAndBytes) {
  flip(17);
  const CheckReport report = must_check(files_);
  EXPECT_FALSE(report.healthy);
  const std::uint32_t from = at_[17].offset - kRecordHeaderBytes;
  EXPECT_TRUE(
      mentions(report, "simulated/0000000006.seg: damaged from byte " + std::to_string(from)));
  EXPECT_TRUE(mentions(report, "1 records, from 17 on"));
}

TEST_F(Damaged, ARecordInTheMiddle) {
  flip(17);
  expect_repaired({17});
}

TEST_F(Damaged, SeveralRecordsInSeveralSegments) {
  flip(16);
  flip(17);
  flip(20);
  flip(22);
  expect_repaired({16, 17, 20, 22});
}

TEST_F(Damaged, TheLastRecordOfASegment) {
  flip(18, 1199);
  expect_repaired({18});
}

TEST_F(Damaged, TheFirstRecordOfTheCheckpoint) {
  flip(13);
  expect_repaired({13});
}

TEST_F(Damaged, ARecordLengthThatPointsIntoTheBlue) {
  const std::string name = segment_name(at_[16].segment);
  files_.flip_bit(name, at_[16].offset - kRecordHeaderBytes + 4 + 3, 7);
  expect_repaired({16});
}

// It is not replayed, but may contain message bodies.
TEST_F(Damaged, ARecordBeforeTheCheckpoint) {
  flip(5);
  ASSERT_TRUE(try_open(files_).has_value());
  expect_repaired({});
}

TEST_F(Damaged, ASegmentHeader) {
  files_.flip_bit(segment_name(6), 20, 1);
  expect_repaired({});
}

TEST_F(Damaged, TheHeaderOfTheLastSegment) {
  files_.flip_bit(segment_name(8), 20, 1);
  expect_repaired({});
}

TEST_F(Damaged, TheHeaderOfTheCheckpointsSegment) {
  files_.flip_bit(segment_name(5), 20, 1);
  expect_repaired({});
}

TEST_F(Damaged, TheFirstSectorOfASegment) {
  auto bytes = *files_.bytes(segment_name(6));
  std::fill_n(bytes.begin(), 512, '\xee');
  files_.put(segment_name(6), bytes);
  expect_repaired({16});
}

// The first record left is not the one that replay must start with.
TEST_F(Damaged, TheFirstSectorOfTheCheckpointsSegment) {
  auto bytes = *files_.bytes(segment_name(5));
  std::fill_n(bytes.begin(), 512, '\xee');
  files_.put(segment_name(5), bytes);
  expect_repaired({13});
}

TEST_F(Damaged, AWholeSegmentOfGarbage) {
  files_.put(segment_name(7), std::string(4096, '\xee'));
  expect_repaired({19, 20, 21});
}

TEST_F(Damaged, AMissingSegment) {
  files_.erase(segment_name(6));
  expect_repaired({16, 17, 18});
}

TEST_F(Damaged, TwoMissingSegments) {
  files_.erase(segment_name(6));
  files_.erase(segment_name(7));
  expect_repaired({16, 17, 18, 19, 20, 21});
}

TEST_F(Damaged, TheCheckpointsSegmentMissing) {
  files_.erase(segment_name(5));
  expect_repaired({13, 14, 15});
}

TEST_F(Damaged, TheLastSegmentMissing) {
  files_.erase(segment_name(8));
  expect_repaired({22, 23, 24});
}

TEST_F(Damaged, TheManifest) {
  files_.flip_bit("manifest", 20, 1);
  expect_repaired({});
}

TEST_F(Damaged, TheManifestMissing) {
  files_.erase("manifest");
  expect_repaired({});
}

// Then replay starts at the beginning.
TEST_F(Damaged, TheManifestAndTheEndOfTheCheckpoint) {
  files_.erase("manifest");
  flip(14);
  expect_repaired({14}, 1);
}

TEST_F(Damaged, WithoutManifestCheckpointAndBeginningNothingCanBeDone) {
  files_.erase("manifest");
  files_.erase(segment_name(1));
  flip(14);
  const auto before = all_bytes(files_);
  EXPECT_EQ(repair_journal(files_).error().code, ErrorCode::storage_damaged);
  EXPECT_EQ(all_bytes(files_), before);
}

TEST_F(Damaged, ASecondRepairKeepsTheFirstOriginal) {
  const auto original = *files_.bytes(segment_name(6));
  flip(16);
  const auto damaged = *files_.bytes(segment_name(6));
  ASSERT_TRUE(repair_journal(files_)->healthy);
  flip(18);
  ASSERT_TRUE(repair_journal(files_)->healthy);
  EXPECT_EQ(files_.bytes("0000000006.seg.damaged"), damaged);
  EXPECT_TRUE(files_.bytes("0000000006.seg.2.damaged").has_value());
  auto opened = must_open(files_);
  EXPECT_FALSE(opened.replayed.contains(16));
  EXPECT_TRUE(opened.replayed.contains(17));
  EXPECT_FALSE(opened.replayed.contains(18));
}

// The manifest says that it was synced.
TEST_F(Damaged, TheVeryLastRecord) {
  flip(24);
  expect_repaired({24});
}

TEST_F(Damaged, ATornEndIsHealthy) {
  Location last;
  {
    auto opened = must_open(files_);
    last = opened.journal->append(numbered(25, 500)).payload;
    must_sync(*opened.journal);
  }
  files_.flip_bit(segment_name(last.segment), last.offset + 100, 0);
  const CheckReport report = must_check(files_);
  EXPECT_TRUE(report.healthy);
  EXPECT_TRUE(mentions(report, "never synced"));
}

// Any flipped bit: repair produces a journal that opens and lacks at most a record or two.
TEST_F(Damaged, AnyFlippedBitCanBeRepaired) {
  SeededIds chance(3);
  const auto healthy = all_bytes(files_);
  for (int round = 0; round < 300; ++round) {
    const auto names = files_.list().value();
    for (const std::string& name : names) files_.erase(name);
    for (const auto& [name, bytes] : healthy) files_.put(name, bytes);
    const auto number = static_cast<std::uint32_t>(5 + chance.bits() % 4);
    const std::uint64_t byte = chance.bits() % 3700;
    SCOPED_TRACE(testing::Message() << "segment " << number << ", byte " << byte);
    files_.flip_bit(segment_name(number), byte, chance.bits() % 8);
    ASSERT_TRUE(repair_journal(files_).has_value());
    auto opened = must_open(files_);
    EXPECT_GE(opened.replayed.size(), 11u);
    for (const auto& [sequence, payload] : opened.replayed) EXPECT_EQ(payload, records_[sequence]);
  }
}

TEST(CheckJournal, SaysWhenThereIsNone) {
  FaultyFiles files;
  EXPECT_EQ(check_journal(files).error().code, ErrorCode::storage_foreign);
  files.put("thesis.txt", "chapter one");
  EXPECT_EQ(repair_journal(files).error().code, ErrorCode::storage_foreign);
}

}  // namespace
}  // namespace redrive::journal
