#include <gtest/gtest.h>

#include "tests/core/journal/journal_testing.h"

// The contract of every journal, durable or not.
namespace redrive::journal {
namespace {

enum class Place { memory, files };

class Contract : public ::testing::TestWithParam<Place> {
 protected:
  void SetUp() override {
    if (GetParam() == Place::memory) {
      journal_ = memory_journal(kSmall);
    } else {
      journal_ = must_open(files_).journal;
    }
  }

  sim::FaultyFiles files_;
  std::unique_ptr<Journal> journal_;
};

TEST_P(Contract, SequencesCountAndLocationsGrow) {
  Location last;
  for (Sequence i = 1; i <= 100; ++i) {
    const Appended at = journal_->append(numbered(i, i * 30));
    EXPECT_EQ(at.sequence, i);
    EXPECT_GT(at.payload, last);
    EXPECT_EQ(at.payload.offset % 8, 0u);
    EXPECT_EQ(must_read(*journal_, at.payload, i * 30), numbered(i, i * 30));
    last = at.payload;
  }
  EXPECT_EQ(journal_->appended(), 100u);
  EXPECT_EQ(must_sync(*journal_), 100u);
  EXPECT_EQ(journal_->synced(), 100u);
}

TEST_P(Contract, BothPlacesGiveEqualLocations) {
  auto other = memory_journal(kSmall);
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(journal_->append(numbered(i, i * 31)).payload,
              other->append(numbered(i, i * 31)).payload);
  }
}

TEST_P(Contract, ARecordMayFillASegment) {
  const std::string largest = numbered(1, journal_->payload_bytes_max());
  const Appended at = journal_->append(largest);
  EXPECT_EQ(must_read(*journal_, at.payload, largest.size()), largest);
}

// Some on disk, some in memory, some not durable; adjacent and scattered, forwards and backwards.
TEST_P(Contract, ReadsManyAsItReadsOne) {
  std::vector<Appended> records;
  const auto size_of = [](std::uint64_t i) { return i % 7 == 0 ? 3000 : 40 + i; };
  for (std::uint64_t i = 0; i < 90; ++i) {
    records.push_back(journal_->append(numbered(i, size_of(i))));
    if (i == 60) must_sync(*journal_);
  }
  for (const std::uint64_t step : {1u, 2u, 89u}) {
    std::vector<std::string> out(records.size());
    std::vector<Journal::Wanted> wanted;
    for (std::uint64_t i = 0; i < records.size(); ++i) {
      const std::uint64_t which = i * step % records.size();
      out[i].resize(size_of(which));
      wanted.push_back({records[which].payload, out[i].size(), out[i].data()});
    }
    ASSERT_TRUE(journal_->read_many(wanted).has_value());
    for (std::uint64_t i = 0; i < records.size(); ++i) {
      const std::uint64_t which = i * step % records.size();
      EXPECT_EQ(out[i], numbered(which, size_of(which))) << step << " " << i;
    }
  }
}

TEST_P(Contract, KeepsWhatIsHeldOrPinnedAndForgetsTheRest) {
  for (std::uint64_t i = 0; i < 5; ++i) journal_->append(numbered(i, 3980));
  journal_->hold(2, 10);
  journal_->pin(4);
  const Appended begin = append_checkpoint(*journal_);
  must_sync(*journal_);
  ASSERT_TRUE(journal_->set_checkpoint(begin.sequence).has_value());
  must_housekeep(*journal_);
  EXPECT_EQ(segment_numbers(*journal_), (std::vector<std::uint32_t>{2, 4, 6}));
  EXPECT_EQ(must_read(*journal_, {2, 88}, 3980), numbered(1, 3980));
  EXPECT_EQ(must_read(*journal_, {4, 88}, 3980), numbered(3, 3980));

  EXPECT_TRUE(journal_->has_segment(2));
  for (const std::uint32_t gone : {0u, 1u, 3u, 7u}) EXPECT_FALSE(journal_->has_segment(gone));

  const auto usage = journal_->usage();
  EXPECT_TRUE(usage[0].before_checkpoint);
  EXPECT_EQ(usage[0].held_bytes, 10u);
  EXPECT_FALSE(usage[0].active);
  EXPECT_FALSE(usage[2].before_checkpoint);
  EXPECT_TRUE(usage[2].active);
  EXPECT_EQ(journal_->totals().segments, 3u);
  EXPECT_EQ(journal_->totals().segments_since_checkpoint, 1u);

  journal_->let_go(2, 10);
  journal_->unpin(4);
  journal_->append("later");
  ASSERT_TRUE(journal_->sync_once().has_value());
  must_housekeep(*journal_);
  EXPECT_EQ(segment_numbers(*journal_), (std::vector<std::uint32_t>{6}));
}

INSTANTIATE_TEST_SUITE_P(Places, Contract, ::testing::Values(Place::memory, Place::files),
                         [](const auto& place) {
                           return place.param == Place::memory ? "Memory" : "Files";
                         });

}  // namespace
}  // namespace redrive::journal
