#include <gtest/gtest.h>

#include "tests/core/journal/journal_testing.h"

namespace redrive::journal {
namespace {

using sim::FaultyFiles;

// The content of every file, to check that nothing was modified.
std::map<std::string, std::string> snapshot(FaultyFiles& files) {
  std::map<std::string, std::string> out;
  const auto names = files.list().value();
  for (const std::string& name : names) out[name] = *files.bytes(name);
  return out;
}

// Opening fails with this code and a message with these parts, and changes nothing.
void expect_refused(FaultyFiles& files, ErrorCode code, std::vector<std::string> mentions) {
  const auto before = snapshot(files);
  const auto opened = try_open(files);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, code) << opened.error().message;
  for (const std::string& mention : mentions) {
    EXPECT_NE(opened.error().message.find(mention), std::string::npos)
        << opened.error().message << " does not mention " << mention;
  }
  EXPECT_EQ(snapshot(files), before);
}

TEST(Recovery, StartsInAnEmptyDirectory) {
  FaultyFiles files;
  const auto opened = must_open(files);
  EXPECT_EQ(opened.recovered.last_sequence, 0u);
  EXPECT_TRUE(opened.replayed.empty());
  EXPECT_TRUE(opened.journal->has_room());
  EXPECT_EQ(files.list().value(),
            (std::vector<std::string>{"0000000001.seg", "manifest", "manifest.tmp"}));
}

TEST(Recovery, StartsInADirectoryWithOnlyALockFile) {
  FaultyFiles files;
  files.put("lock", "1234\n");
  EXPECT_TRUE(try_open(files).has_value());
}

TEST(Recovery, RefusesAForeignDirectory) {
  FaultyFiles files;
  files.put("thesis.txt", "chapter one");
  expect_refused(files, ErrorCode::storage_foreign, {"simulated/", "thesis.txt"});
}

TEST(Recovery, ToleratesStrangersBesideAJournal) {
  FaultyFiles files;
  must_open(files);
  files.put("notes.txt", "mine");
  EXPECT_TRUE(try_open(files).has_value());
}

// Six segments with three records each, synced one by one; record i is `numbered(i, 1200)`.
class WrittenJournal : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = must_open(files_);
    for (std::uint64_t i = 1; i <= 18; ++i) {
      at_[i] = opened.journal->append(numbered(i, 1200)).payload;
      must_sync(*opened.journal);
    }
    ASSERT_EQ(at_[18].segment, 6u);
  }

  void flip(Sequence record, std::uint32_t byte) {
    files_.flip_bit(segment_name(at_[record].segment), at_[record].offset + byte, 3);
  }
  // Offset of the record's header.
  std::string offset(Sequence record) {
    return "byte " + std::to_string(at_[record].offset - kRecordHeaderBytes) + ":";
  }

  FaultyFiles files_;
  std::map<Sequence, Location> at_;
};

TEST_F(WrittenJournal, RefusesADamagedRecordNamingFileAndOffset) {
  flip(5, 700);
  expect_refused(files_,
                 ErrorCode::storage_damaged,
                 {"simulated/0000000002.seg", offset(5), "redrive journal check"});
}

TEST_F(WrittenJournal, RefusesADamagedLastRecordOfAnOlderSegment) {
  flip(6, 1199);
  expect_refused(files_, ErrorCode::storage_damaged, {"0000000002.seg", offset(6)});
}

TEST_F(WrittenJournal, RefusesDamageInTheLastSegmentWhenALaterRecordProvesIt) {
  flip(17, 5);
  expect_refused(files_, ErrorCode::storage_damaged, {"0000000006.seg", offset(17)});
}

// Nothing was written after it, so a torn write cannot be distinguished from damage. The log
// reports it.
TEST_F(WrittenJournal, CutsOffAnUnreadableLastRecord) {
  flip(18, 5);
  const auto opened = must_open(files_);
  EXPECT_EQ(opened.recovered.last_sequence, 17u);
  EXPECT_NE(opened.recovered.truncated.find("0000000006.seg"), std::string::npos);
  EXPECT_EQ(must_open(files_).recovered.truncated, "");  // Reported once.
}

// Every byte of a synced record, including header and padding, is checked.
TEST_F(WrittenJournal, NoFlippedBitOfASyncedRecordGoesUnnoticed) {
  const auto begin = at_[17].offset - kRecordHeaderBytes;
  for (std::uint32_t byte = begin; byte < at_[17].offset + 1200;
       byte += byte < begin + 40 ? 1 : 61) {
    SCOPED_TRACE(byte);
    files_.flip_bit("0000000006.seg", byte, byte % 8);
    expect_refused(files_, ErrorCode::storage_damaged, {offset(17)});
    files_.flip_bit("0000000006.seg", byte, byte % 8);
  }
  EXPECT_TRUE(try_open(files_).has_value());
}

TEST_F(WrittenJournal, RefusesADamagedSegmentHeader) {
  for (const char* name : {"0000000001.seg", "0000000004.seg", "0000000006.seg"}) {
    files_.flip_bit(name, 33, 0);
    expect_refused(files_, ErrorCode::storage_damaged, {name, "byte 0:"});
    files_.flip_bit(name, 33, 0);
  }
}

TEST_F(WrittenJournal, RefusesAMissingSegment) {
  files_.erase("0000000003.seg");
  expect_refused(files_, ErrorCode::storage_damaged, {"0000000003.seg", "missing"});
}

TEST_F(WrittenJournal, RefusesASegmentThatWasCutShort) {
  auto bytes = *files_.bytes("0000000003.seg");
  bytes.resize(2000);
  files_.put("0000000003.seg", bytes);
  expect_refused(files_, ErrorCode::storage_damaged, {"0000000003.seg", offset(8)});
}

TEST_F(WrittenJournal, RefusesALostOrDamagedManifest) {
  const auto manifest = *files_.bytes("manifest");
  files_.erase("manifest");
  expect_refused(files_, ErrorCode::storage_damaged, {"manifest", "missing"});
  files_.put("manifest", manifest.substr(0, 20));
  expect_refused(files_, ErrorCode::storage_damaged, {"manifest"});
  files_.put("manifest", manifest);
  files_.flip_bit("manifest", 17, 2);
  expect_refused(files_, ErrorCode::storage_damaged, {"manifest"});
}

TEST_F(WrittenJournal, RefusesAnotherVersion) {
  files_.flip_bit("manifest", 8, 1);
  expect_refused(files_, ErrorCode::storage_foreign, {"manifest", "version"});
  files_.flip_bit("manifest", 8, 1);
  files_.flip_bit("0000000002.seg", 8, 1);
  expect_refused(files_, ErrorCode::storage_foreign, {"0000000002.seg", "version"});
}

// Records that the manifest says were durable cannot be a torn end.
TEST_F(WrittenJournal, RefusesWhenTheCheckpointItselfIsUnreadable) {
  Location begin;
  {
    auto opened = must_open(files_);
    const Appended checkpoint = append_checkpoint(*opened.journal);
    begin = checkpoint.payload;
    must_sync(*opened.journal);
    ASSERT_TRUE(opened.journal->set_checkpoint(checkpoint.sequence).has_value());
    must_housekeep(*opened.journal);
  }
  files_.flip_bit(segment_name(begin.segment), begin.offset, 0);
  expect_refused(files_, ErrorCode::storage_damaged, {segment_name(begin.segment), "synced"});
  files_.flip_bit(segment_name(begin.segment), begin.offset, 0);
  files_.erase(segment_name(begin.segment));
  expect_refused(files_, ErrorCode::storage_damaged, {segment_name(begin.segment), "missing"});
}

// Including its last record: the manifest says that it was durable.
TEST_F(WrittenJournal, RefusesWhenTheLastRecordOfTheCheckpointIsUnreadable) {
  std::string name;
  std::uint32_t end = 0;
  {
    auto opened = must_open(files_);
    const std::string_view begin_text = "checkpoint begins";
    const std::string_view end_text = "checkpoint ends";
    const Appended begin = opened.journal->append_checkpoint_begin(std::span(&begin_text, 1));
    const Appended last = opened.journal->append_checkpoint_end(std::span(&end_text, 1));
    must_sync(*opened.journal);
    ASSERT_TRUE(opened.journal->set_checkpoint(begin.sequence).has_value());
    must_housekeep(*opened.journal);
    ASSERT_EQ(opened.journal->appended(), last.sequence);
    name = segment_name(last.payload.segment);
    end = last.payload.offset;
  }
  files_.flip_bit(name, end, 0);
  expect_refused(files_, ErrorCode::storage_damaged, {name, "synced"});
  files_.flip_bit(name, end, 0);
  EXPECT_TRUE(try_open(files_).has_value());
}

TEST_F(WrittenJournal, StopsWhenTheOwnerRefusesARecord) {
  const auto replay = [](Sequence sequence, Location, std::string_view) -> Result<void> {
    if (sequence == 4) return fail(ErrorCode::storage_damaged, "makes no sense");
    return {};
  };
  Recovered recovered;
  const auto opened = open_journal(files_, kSmall, replay, recovered);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().message, "makes no sense");
}

}  // namespace
}  // namespace redrive::journal
