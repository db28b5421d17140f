#include "core/queue/dedup_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace redrive::queue {
namespace {

DedupTable::Entry entry(std::int64_t expires, std::uint64_t sequence = 1) {
  return {.expires = Timestamp(expires), .message_id = {}, .sequence = sequence};
}

TEST(DedupId, TellsGroupsAndIdsApart) {
  std::set<DedupId> ids;
  for (const auto& [group, id] : std::vector<std::pair<std::string, std::string>>{
           {"", "a"}, {"", "b"}, {"a", ""}, {"a", "b"}, {"ab", ""}, {"b", "a"}, {"", "ab"}}) {
    EXPECT_TRUE(ids.insert(dedup_id(group, id)).second) << group << '/' << id;
  }
  EXPECT_EQ(dedup_id("g", "x"), dedup_id("g", "x"));
}

TEST(DedupTable, AnIdIsTakenUntilItExpires) {
  DedupTable table;
  const DedupId id = dedup_id("", "a");
  table.insert(id, entry(100, 7));
  ASSERT_NE(table.find(id, Timestamp(99)), nullptr);
  EXPECT_EQ(table.find(id, Timestamp(99))->sequence, 7u);
  EXPECT_EQ(table.find(id, Timestamp(100)), nullptr);
  EXPECT_EQ(table.find(dedup_id("", "b"), Timestamp(0)), nullptr);
}

TEST(DedupTable, ForgetsWhatHasExpired) {
  DedupTable table;
  for (int i = 0; i < 10; ++i) table.insert(dedup_id("", std::to_string(i)), entry(100 + i));
  table.advance(Timestamp(104));
  EXPECT_EQ(table.size(), 5u);
  EXPECT_EQ(table.entry(dedup_id("", "4")), nullptr);
  EXPECT_NE(table.entry(dedup_id("", "5")), nullptr);
}

TEST(DedupTable, AnIdTakenAgainLivesAsLongAsItsYoungerEntry) {
  DedupTable table;
  const DedupId id = dedup_id("", "a");
  table.insert(id, entry(100, 1));
  table.insert(id, entry(200, 2));
  table.advance(Timestamp(150));
  ASSERT_NE(table.find(id, Timestamp(150)), nullptr);
  EXPECT_EQ(table.find(id, Timestamp(150))->sequence, 2u);
  table.advance(Timestamp(200));
  EXPECT_EQ(table.size(), 0u);
}

// A checkpoint walks the positions while ids come and go: a position means one id for ever.
TEST(DedupTable, PositionsCountOn) {
  DedupTable table;
  for (int i = 0; i < 4; ++i) table.insert(dedup_id("", std::to_string(i)), entry(100 + i));
  EXPECT_EQ(table.first(), 0u);
  EXPECT_EQ(table.last(), 4u);
  table.advance(Timestamp(101));
  EXPECT_EQ(table.first(), 2u);
  EXPECT_EQ(table.at(3).id, dedup_id("", "3"));
  (void)table.take();
  EXPECT_EQ(table.first(), 4u);
  EXPECT_EQ(table.last(), 4u);
  table.insert(dedup_id("", "x"), entry(300));
  EXPECT_EQ(table.at(4).id, dedup_id("", "x"));
}

// A checkpoint tells of an id that was taken again twice, and what it loads is the younger one.
TEST(DedupTable, WalkedAnIdTakenAgainComesOldestFirst) {
  DedupTable table;
  const DedupId id = dedup_id("", "a");
  table.insert(id, entry(100, 1));
  table.insert(id, entry(200, 2));
  EXPECT_EQ(table.size(), 1u);
  DedupTable loaded;
  for (auto at = table.first(); at < table.last(); ++at) {
    loaded.insert(table.at(at).id, table.at(at).entry);
  }
  loaded.sort();
  EXPECT_EQ(loaded.entry(id)->sequence, 2u);
}

TEST(DedupTable, SortedItExpiresInOrderWhateverTheOrderOfArrival) {
  DedupTable table;
  for (const int i : {3, 1, 2}) table.insert(dedup_id("", std::to_string(i)), entry(100 + i));
  table.sort();
  table.advance(Timestamp(101));
  EXPECT_EQ(table.size(), 2u);
  table.advance(Timestamp(102));
  EXPECT_EQ(table.size(), 1u);
  EXPECT_NE(table.entry(dedup_id("", "3")), nullptr);
}

// Thousands come and expire, many times as many as there are at once.
TEST(DedupTable, FindsEachOfManyForAsLongAsItLives) {
  DedupTable table;
  constexpr int kLifetime = 1000;
  for (int now = 0; now < 20 * kLifetime; ++now) {
    table.advance(Timestamp(now));
    const auto number = static_cast<std::uint64_t>(now);
    table.insert(dedup_id("", std::to_string(now)), entry(now + kLifetime, number));
    const int oldest = std::max(0, now - kLifetime + 1);
    ASSERT_EQ(table.entry(dedup_id("", std::to_string(oldest - 1))), nullptr);
    ASSERT_EQ(table.entry(dedup_id("", std::to_string(oldest)))->sequence,
              static_cast<std::uint64_t>(oldest));
    ASSERT_EQ(table.size(), static_cast<std::size_t>(now - oldest + 1));
  }
}

}  // namespace
}  // namespace redrive::queue
