#include "core/journal/file_journal.h"

#include <gtest/gtest.h>

#include "tests/core/journal/journal_testing.h"

namespace redrive::journal {
namespace {

using sim::FaultyFiles;

TEST(FileJournal, NumbersRecordsAndReadsThemBeforeAndAfterTheSync) {
  FaultyFiles files;
  auto [journal, replayed, locations, recovered] = must_open(files);
  EXPECT_EQ(journal->appended(), 0u);
  const std::string_view parts[] = {"one ", "", "record"};
  const Appended first = journal->append(parts);
  const Appended second = journal->append("another");
  EXPECT_EQ(first.sequence, 1u);
  EXPECT_EQ(second.sequence, 2u);
  EXPECT_EQ(journal->synced(), 0u);
  EXPECT_EQ(must_read(*journal, first.payload, 10), "one record");
  EXPECT_EQ(must_sync(*journal), 2u);
  EXPECT_EQ(journal->synced(), 2u);
  EXPECT_EQ(must_read(*journal, second.payload, 7), "another");
  EXPECT_EQ(must_read(*journal, {first.payload.segment, first.payload.offset + 4}, 3), "rec");
  EXPECT_EQ(must_sync(*journal), 2u);
  EXPECT_EQ(journal->totals().syncs, 1u);  // The second sync had nothing to write.
}

TEST(FileJournal, ReplaysWhatWasSyncedInOrder) {
  FaultyFiles files;
  std::map<Sequence, std::string> appended;
  std::map<Sequence, Location> locations;
  {
    auto opened = must_open(files);
    for (std::uint64_t i = 1; i <= 200; ++i) {
      const std::string payload = numbered(i, i * 13 % 700);
      const Appended at = opened.journal->append(payload);
      appended[at.sequence] = payload;
      locations[at.sequence] = at.payload;
      if (i % 7 == 0) must_sync(*opened.journal);
    }
    must_sync(*opened.journal);
    EXPECT_GT(opened.journal->totals().segments, 10u);
  }
  auto again = must_open(files);
  EXPECT_EQ(again.replayed, appended);
  EXPECT_EQ(again.locations, locations);
  EXPECT_EQ(again.recovered.last_sequence, 200u);
  EXPECT_EQ(again.recovered.records, 200u);
  EXPECT_EQ(again.recovered.truncated, "");
  for (const auto& [sequence, at] : locations) {
    EXPECT_EQ(must_read(*again.journal, at, appended[sequence].size()), appended[sequence]);
  }
  EXPECT_EQ(again.journal->append("next").sequence, 201u);
}

// A record appended after the bytes were written and before they are durable must wait for the next
// sync: a power loss at this moment would lose it.
TEST(FileJournal, ASyncReportsOnlyWhatWasAppendedBeforeIt) {
  FaultyFiles files;
  auto opened = must_open(files);
  Journal& journal = *opened.journal;
  journal.append("first");
  files.during_next_sync([&] { journal.append("second"); });
  EXPECT_EQ(must_sync(journal), 1u);
  EXPECT_EQ(journal.appended(), 2u);
  EXPECT_EQ(journal.synced(), 1u);
  EXPECT_EQ(must_sync(journal), 2u);
  files.during_next_sync([&] { journal.append("third"); });
  EXPECT_EQ(must_sync(journal), 2u);  // Nothing to write: the hook stays for the next sync.
  journal.append("a");
  const Sequence reported = must_sync(journal);
  EXPECT_EQ(reported, 3u);
  SeededIds chance(1);
  files.crash(chance);
  EXPECT_GE(must_open(files).recovered.last_sequence, reported);
}

// Rotation: a record never spans segments, and the largest fills one exactly.
TEST(FileJournal, TakesRecordsAsLargeAsASegmentAndNoBytesLongOnes) {
  FaultyFiles files;
  auto opened = must_open(files);
  const std::string largest = numbered(1, opened.journal->payload_bytes_max());
  const Appended first = opened.journal->append(largest);
  const Appended second = opened.journal->append(largest);
  const Appended empty = opened.journal->append("");
  EXPECT_EQ(first.payload.segment + 1, second.payload.segment);
  EXPECT_EQ(second.payload.segment + 1, empty.payload.segment);
  EXPECT_EQ(must_read(*opened.journal, second.payload, largest.size()), largest);
  must_sync(*opened.journal);
  EXPECT_EQ(must_read(*opened.journal, first.payload, largest.size()), largest);

  const auto again = must_open(files);
  EXPECT_EQ(again.replayed.at(1), largest);
  EXPECT_EQ(again.replayed.at(2), largest);
  EXPECT_EQ(again.replayed.at(3), "");
}

TEST(FileJournal, KeepsTheTailInMemoryAndTheRestInFiles) {
  FaultyFiles files;
  Options options = kSmall;
  options.segment_bytes = 1u << 20;
  options.tail_cache_bytes = 600u << 10;  // Two chunks and a bit.
  auto opened = must_open(files, options);
  opened.journal->append("first");
  must_sync(*opened.journal);  // The first write reads the preceding bytes of its page.
  std::vector<Appended> records;
  for (std::uint64_t i = 0; i < 30; ++i) {
    records.push_back(opened.journal->append(numbered(i, 100'000)));
  }
  files.fail_reads(true);
  EXPECT_EQ(must_read(*opened.journal, records[0].payload, 100'000), numbered(0, 100'000));
  must_sync(*opened.journal);
  std::string out(100'000, '\0');
  EXPECT_FALSE(opened.journal->read(records[0].payload, out.size(), out.data()).has_value());
  EXPECT_EQ(must_read(*opened.journal, records[29].payload, 100'000), numbered(29, 100'000));
  files.fail_reads(false);
  EXPECT_EQ(must_read(*opened.journal, records[0].payload, 100'000), numbered(0, 100'000));
}

// Sequential reads fetch windows ahead. A window must not include bytes that are not on disk yet: a
// later read would return the old bytes.
TEST(FileJournal, ReadsAheadOnlyWhatHasBeenWritten) {
  constexpr std::uint32_t kBytes = 10'000;
  FaultyFiles files;
  Options options = kSmall;
  options.segment_bytes = 4u << 20;
  auto opened = must_open(files, options);
  Journal& journal = *opened.journal;
  std::vector<Appended> records;
  const auto append = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      records.push_back(journal.append(numbered(records.size(), kBytes)));
  };
  const auto expect_all = [&] {
    for (std::size_t i = 0; i < records.size(); i += 5) {
      std::vector<std::string> texts(std::min<std::size_t>(5, records.size() - i));
      std::vector<Journal::Wanted> wanted;
      for (std::size_t j = 0; j < texts.size(); ++j) {
        texts[j].resize(kBytes);
        wanted.push_back({records[i + j].payload, kBytes, texts[j].data()});
      }
      ASSERT_TRUE(journal.read_many(wanted).has_value());
      for (std::size_t j = 0; j < texts.size(); ++j) EXPECT_EQ(texts[j], numbered(i + j, kBytes));
    }
  };
  append(60);  // Two chunks: the second stays in memory.
  must_sync(journal);
  append(20);  // Not written yet.
  expect_all();
  must_sync(journal);
  append(60);
  must_sync(journal);
  expect_all();
}

// A payload that leaves no space for another in its segment.
constexpr std::uint32_t kFilling = 3980;

class Recycling : public ::testing::Test {
 protected:
  // Fills some segments; each record almost fills one.
  void fill(int segments) {
    for (int i = 0; i < segments; ++i) {
      last_ = journal().append(numbered(static_cast<std::uint64_t>(i), kFilling));
    }
    must_sync(journal());
  }

  void checkpoint() {
    const Appended begin = append_checkpoint(journal());
    must_sync(journal());
    ASSERT_TRUE(journal().set_checkpoint(begin.sequence).has_value());
  }

  Journal& journal() { return *opened_.journal; }

  FaultyFiles files_;
  Opened opened_ = must_open(files_);
  Appended last_{};
};

TEST_F(Recycling, SparesThenRemovesWhatLiesBeforeTheCheckpoint) {
  fill(6);
  checkpoint();
  EXPECT_EQ(segment_numbers(journal()), (std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7}));
  must_housekeep(journal());
  EXPECT_EQ(segment_numbers(journal()), (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(journal().totals().spares, 2u);
  EXPECT_EQ(files_.list()->size(), 5u);  // Two manifests, segment, two spares.
}

TEST_F(Recycling, KeepsSomeMoreForTheNextRush) {
  Options generous = kSmall;
  generous.recycled_segments_max = 4;
  opened_ = must_open(files_, generous);
  fill(8);
  checkpoint();
  must_housekeep(journal());
  EXPECT_EQ(journal().totals().spares, 4u);
  fill(1);
  must_housekeep(journal());  // Above the target of two, so none is created.
  EXPECT_EQ(journal().totals().spares, 3u);
}

TEST_F(Recycling, HeldAndPinnedSegmentsStay) {
  fill(6);
  journal().hold(2, 500);
  journal().hold(2, 100);
  journal().pin(4);
  checkpoint();
  must_housekeep(journal());
  EXPECT_EQ(segment_numbers(journal()), (std::vector<std::uint32_t>{2, 4, 7}));
  EXPECT_EQ(journal().usage()[0].held_bytes, 600u);
  journal().let_go(2, 500);
  journal().unpin(4);
  must_housekeep(journal());
  EXPECT_EQ(segment_numbers(journal()), (std::vector<std::uint32_t>{2, 7}));
  journal().let_go(2, 100);
  // After a crash the bytes could be needed again: only a later durable record frees them.
  must_housekeep(journal());
  EXPECT_EQ(segment_numbers(journal()), (std::vector<std::uint32_t>{2, 7}));
  journal().append("later");
  must_housekeep(journal());
  EXPECT_EQ(segment_numbers(journal()), (std::vector<std::uint32_t>{2, 7}));
  ASSERT_TRUE(journal().sync_once().has_value());
  must_housekeep(journal());
  EXPECT_EQ(segment_numbers(journal()), (std::vector<std::uint32_t>{7}));
}

TEST_F(Recycling, WithoutACheckpointNothingIsRecycled) {
  fill(6);
  must_housekeep(journal());
  EXPECT_EQ(journal().totals().segments, 6u);
}

TEST_F(Recycling, ASegmentsNameOutlivesItsHoldAcrossARestart) {
  fill(3);
  const Appended held = last_;
  fill(3);
  checkpoint();
  journal().hold(held.payload.segment, kFilling);
  must_housekeep(journal());
  opened_ = must_open(files_);
  journal().hold(held.payload.segment, kFilling);
  must_housekeep(journal());
  EXPECT_EQ(must_read(journal(), held.payload, kFilling), numbered(2, kFilling));
  EXPECT_EQ(opened_.replayed.size(), 2u);  // Only the checkpoint's own records.
  journal().let_go(held.payload.segment, kFilling);
  journal().append("later");
  ASSERT_TRUE(journal().sync_once().has_value());
  must_housekeep(journal());
  EXPECT_EQ(journal().totals().segments, 2u);
}

TEST_F(Recycling, CountsWhatCameSinceTheCheckpoint) {
  fill(4);
  EXPECT_EQ(journal().totals().segments_since_checkpoint, 4u);
  const auto before = journal().totals().bytes_since_checkpoint;
  EXPECT_GT(before, 4 * kFilling);
  checkpoint();
  EXPECT_EQ(journal().totals().segments_since_checkpoint, 1u);
  EXPECT_LT(journal().totals().bytes_since_checkpoint, 200u);
  EXPECT_EQ(journal().totals().bytes_appended,
            before + journal().totals().bytes_since_checkpoint + kSegmentHeaderBytes);
  must_housekeep(journal());
  const auto since = journal().totals().bytes_since_checkpoint;
  opened_ = must_open(files_);
  EXPECT_EQ(journal().totals().bytes_since_checkpoint, since);
}

// A later, incomplete checkpoint is ignored; replay starts at the complete one.
TEST_F(Recycling, BeginsAtTheCheckpointSetNotAtTheOneBegun) {
  fill(2);
  checkpoint();
  const std::string_view begin = "never finished";
  journal().append_checkpoint_begin(std::span(&begin, 1));
  must_sync(journal());
  must_housekeep(journal());
  EXPECT_EQ(must_open(files_).replayed.begin()->second, "checkpoint begins");
}

TEST_F(Recycling, RestartsDoNotPileUpSegments) {
  fill(1);
  for (int i = 0; i < 10; ++i) opened_ = must_open(files_);
  EXPECT_EQ(journal().totals().segments, 2u);
  EXPECT_EQ(opened_.replayed.size(), 1u);
}

TEST_F(Recycling, SpareTargetIsFollowedUpAndDown) {
  journal().set_spare_target(5);
  must_housekeep(journal());
  EXPECT_EQ(journal().totals().spares, 5u);
  journal().set_spare_target(1);
  must_housekeep(journal());
  EXPECT_EQ(journal().totals().spares, 1u);
}

TEST_F(Recycling, SparesOfAnotherSizeAreReplaced) {
  must_housekeep(journal());
  Options larger = kSmall;
  larger.segment_bytes = 8192;
  opened_ = must_open(files_, larger);
  must_housekeep(journal());
  EXPECT_EQ(journal().totals().spares, 2u);
  const auto names = files_.list().value();
  for (const std::string& name : names) {
    if (!parse_spare_name(name)) continue;
    EXPECT_EQ(files_.bytes(name)->size(), 8192u) << name;
  }
}

class PageWrites : public ::testing::Test {
 protected:
  // The second segment reuses a spare filled with x.
  void open(std::uint32_t segment_bytes) {
    Options options = kSmall;
    options.segment_bytes = segment_bytes;
    files_.put(spare_name(1), std::string(segment_bytes, 'x'));
    opened_.emplace(must_open(files_, options));
    append(opened_->journal->payload_bytes_max());
  }
  // Returns the end of the record.
  std::size_t append(std::size_t bytes) {
    const Location at = opened_->journal->append(numbered(1, bytes)).payload;
    must_sync(*opened_->journal);
    return at.offset + record_bytes(bytes) - kRecordHeaderBytes;
  }
  std::string bytes() { return files_.bytes(segment_name(2)).value(); }

  FaultyFiles files_;
  std::optional<Opened> opened_;
};

// Otherwise the kernel would have to read the page before writing part of it.
TEST_F(PageWrites, EndWithThePage) {
  open(16'384);
  for (const std::size_t size : {5000, 10, 3000, 4000}) {
    const std::size_t end = append(size);
    const std::size_t page_end = (end + kPageBytes - 1) / kPageBytes * kPageBytes;
    EXPECT_EQ(bytes().substr(end, page_end - end), std::string(page_end - end, '\0'));
    EXPECT_EQ(bytes().find('x', end), page_end == 16'384 ? std::string::npos : page_end);
  }
  EXPECT_EQ(bytes().size(), 16'384u);
}

TEST_F(PageWrites, AreNoneInAFileThatEndsInsideAPage) {
  open(16'384 - 64);
  const std::size_t end = append(5000);
  EXPECT_EQ(bytes().find('x', end), end);
  EXPECT_EQ(bytes().size(), 16'384u - 64);
}

// Mostly sequential reads, as of a long queue, in any order: each returns what was appended.
TEST(FileJournal, ReadsManyOfOldSegmentsInAnyOrder) {
  FaultyFiles files;
  Options options = kSmall;
  options.segment_bytes = 1u << 20;
  auto opened = must_open(files, options);
  std::vector<Location> at;
  std::vector<std::string> sent;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    sent.push_back(numbered(i, 200 + i * 7 % 3000));
    at.push_back(opened.journal->append(sent.back()).payload);
    if (i % 50 == 0) must_sync(*opened.journal);
  }
  must_sync(*opened.journal);
  const auto expect_ten_from = [&](std::size_t first, std::size_t stride) {
    std::vector<std::string> out;
    std::vector<Journal::Wanted> wanted;
    out.reserve(10);
    for (std::size_t i = first; i < std::min(first + 10 * stride, sent.size()); i += stride) {
      out.emplace_back(sent[i].size(), '?');
      wanted.push_back({at[i], out.back().size(), out.back().data()});
    }
    ASSERT_TRUE(opened.journal->read_many(wanted).has_value());
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], sent[first + i * stride]);
  };
  for (std::size_t i = 0; i < sent.size(); i += 10) expect_ten_from(i, 1);
  for (std::size_t i = 0; i < 10; ++i) expect_ten_from(i, 100);  // Random access.
  for (std::size_t i = 0; i < 1000; i += 10) {                   // Several sequential readers.
    expect_ten_from(i, 1);
    expect_ten_from(1000 + i, 1);
    expect_ten_from(2990 - i, 1);
  }
  // Reads at the very end, while more is appended.
  for (int i = 0; i < 200; ++i) {
    sent.push_back(numbered(1, 500));
    at.push_back(opened.journal->append(sent.back()).payload);
    must_sync(*opened.journal);
    expect_ten_from(sent.size() - 10, 1);
  }
}

class FullDisk : public Recycling {};

TEST_F(FullDisk, ShowsWhenTheReserveIsTouchedAndHealsWhenThereIsSpace) {
  must_housekeep(journal());
  files_.limit_space(0);
  EXPECT_TRUE(journal().has_room());
  fill(2);  // Needs one spare.
  must_housekeep(journal());
  EXPECT_FALSE(journal().has_room());
  fill(1);  // The reserve is still available.
  EXPECT_EQ(journal().totals().spares, 0u);
  must_housekeep(journal());
  EXPECT_FALSE(journal().has_room());
  files_.limit_space(5000);  // Enough for one spare of two.
  must_housekeep(journal());
  EXPECT_FALSE(journal().has_room());
  files_.limit_space(std::nullopt);
  must_housekeep(journal());
  EXPECT_TRUE(journal().has_room());
  EXPECT_EQ(journal().totals().spares, 2u);
}

// The manifest overwrites the one before the last, so it needs no space.
TEST_F(FullDisk, ACheckpointMakesRoomWithoutAFreeByteOrASpare) {
  fill(4);
  must_housekeep(journal());
  files_.limit_space(0);
  fill(1);
  must_housekeep(journal());
  EXPECT_FALSE(journal().has_room());
  checkpoint();
  EXPECT_EQ(journal().totals().spares, 0u);
  must_housekeep(journal());
  EXPECT_TRUE(journal().has_room());
  EXPECT_EQ(segment_numbers(journal()).size(), 1u);
  EXPECT_EQ(must_open(files_).replayed.begin()->second, "checkpoint begins");
}

// A directory of an earlier version has no second manifest.
TEST_F(FullDisk, GivesUpASpareForTheManifest) {
  fill(4);
  must_housekeep(journal());
  checkpoint();
  ASSERT_EQ(journal().totals().spares, 1u);
  files_.erase("manifest.tmp");
  files_.limit_space(0);
  must_housekeep(journal());
  EXPECT_TRUE(journal().has_room());
  EXPECT_EQ(segment_numbers(journal()).size(), 1u);
  EXPECT_EQ(must_open(files_).replayed.begin()->second, "checkpoint begins");
}

// The reserve is for deletes. Starts do not use it, however often the process ends.
TEST_F(FullDisk, StartsAgainAndAgainWithoutUsingTheReserve) {
  fill(3);
  journal().append("small");
  must_sync(journal());
  must_housekeep(journal());
  files_.limit_space(0);
  SeededIds chance(5);
  for (std::uint64_t start = 0; start < 40; ++start) {
    if (start % 2 == 0) files_.crash(chance);
    opened_ = must_open(files_);
    EXPECT_EQ(opened_.recovered.last_sequence, 4 + start);
    EXPECT_EQ(journal().totals().spares, 2u);
    EXPECT_FALSE(journal().has_room()) << "sends would be let in before the chores have looked";
    journal().append("deleted");
    must_sync(journal());
  }
  fill(2);
  files_.limit_space(std::nullopt);
  EXPECT_EQ(must_open(files_).recovered.last_sequence, 46u);
}

// The last segment is full, so the next one replaces a spare.
TEST_F(FullDisk, StartsOnTheReserve) {
  fill(3);
  must_housekeep(journal());
  files_.limit_space(0);
  opened_ = must_open(files_);
  EXPECT_EQ(journal().totals().spares, 1u);
  fill(1);
  must_housekeep(journal());
  EXPECT_FALSE(journal().has_room());
  EXPECT_EQ(must_open(files_).replayed.size(), 4u);
}

TEST_F(FullDisk, WithoutAReserveTheSyncFailsForGood) {
  files_.limit_space(0);
  journal().append(numbered(1, kFilling));
  must_sync(journal());
  journal().append(numbered(2, kFilling));
  const auto failed = journal().sync_once();
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::storage_full);
  EXPECT_EQ(journal().synced(), 1u);
  files_.limit_space(std::nullopt);
  EXPECT_FALSE(journal().sync_once().has_value());
  EXPECT_FALSE(journal().housekeep().has_value());
}

TEST(FileJournalFailure, AFailedSyncIsNeverTriedAgain) {
  FaultyFiles files;
  auto opened = must_open(files);
  opened.journal->append("lost");
  files.fail_sync_after(0);
  const auto failed = opened.journal->sync_once();
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::storage_io);
  EXPECT_EQ(opened.journal->synced(), 0u);
  EXPECT_EQ(opened.journal->sync_once().error(), failed.error());
}

}  // namespace
}  // namespace redrive::journal
