#include "core/queue/error_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/queue/failure_group.h"

namespace redrive::queue {
namespace {

constexpr auto kFirst = static_cast<ErrorKey>(1);
constexpr auto kSecond = static_cast<ErrorKey>(2);

TEST(ErrorTable, KnowsATextWhileSomebodyRefersToIt) {
  ErrorTable table;
  const ErrorText text{.type = "T", .message = "M"};
  table.learn(kFirst, text);
  EXPECT_EQ(table.find(text), kFirst);
  table.hold(kFirst);
  table.hold(kFirst);
  table.let_go(kFirst, false);
  ASSERT_NE(table.find(kFirst), nullptr);
  table.let_go(kFirst, false);
  EXPECT_EQ(table.find(kFirst), nullptr);
  EXPECT_EQ(table.find(text), ErrorKey::none);
  EXPECT_EQ(table.last(), kFirst);  // Never given again.
}

TEST(ErrorTable, KnowsTheTextThatSaysNothing) {
  ErrorTable table;
  table.learn(kFirst, {});
  EXPECT_EQ(table.find(ErrorText{}), kFirst);
}

// A checkpoint brings messages before the texts they refer to.
TEST(ErrorTable, TextsMayComeAfterWhoRefersToThem) {
  ErrorTable table;
  table.hold(kFirst);
  table.learn(kFirst, {.type = "T"});
  table.learn(kSecond, {.type = "U"});
  table.let_go(kSecond, true);
  EXPECT_EQ(table.size(), 2u);
  table.forget_unheld();
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.find(ErrorText{.type = "T"}), kFirst);
  EXPECT_EQ(table.find(ErrorText{.type = "U"}), ErrorKey::none);
}

// The same text under a later key, while the earlier one is not yet forgotten.
TEST(ErrorTable, ForgettingAnEarlierKeyLeavesTheLaterOne) {
  ErrorTable table;
  table.learn(kFirst, {.type = "T"});
  table.learn(kSecond, {.type = "T"});
  table.hold(kSecond);
  table.forget_unheld();
  EXPECT_EQ(table.find(ErrorText{.type = "T"}), kSecond);
}

TEST(ErrorTable, IsFullOfBytesAndNotOfKeys) {
  ErrorTable table;
  for (std::uint32_t i = 1; i <= 64; ++i) {
    EXPECT_FALSE(table.full());
    table.learn(static_cast<ErrorKey>(i), {.stack = std::string(1u << 20, static_cast<char>(i))});
  }
  EXPECT_TRUE(table.full());
  table.forget_unheld();
  EXPECT_FALSE(table.full());
}

constexpr Timestamp hour(std::int64_t number) {
  return Timestamp(number * 3'600'000);
}

TEST(GroupArrivals, AreCountedByTheHour) {
  GroupArrivals arrivals;
  arrivals.note(hour(1'000));
  arrivals.note(hour(1'000) + Duration(3'599'999));
  arrivals.note(hour(1'002));
  const auto lately = arrivals.lately(hour(1'003));
  EXPECT_EQ(lately[23], 0u);
  EXPECT_EQ(lately[22], 1u);
  EXPECT_EQ(lately[21], 0u);
  EXPECT_EQ(lately[20], 2u);
  EXPECT_EQ(arrivals.total, 3u);
  EXPECT_EQ(arrivals.first_wall, hour(1'000));
  EXPECT_EQ(arrivals.last_wall, hour(1'002));
}

TEST(GroupArrivals, ForgetWhatIsMoreThanADayAgo) {
  GroupArrivals arrivals;
  arrivals.note(hour(1'000));
  arrivals.note(hour(1'010));
  EXPECT_EQ(arrivals.lately(hour(1'023))[0], 1u);
  EXPECT_EQ(arrivals.lately(hour(1'024))[0], 0u);
  arrivals.note(hour(1'034));  // In the slot of hour 1010.
  const auto lately = arrivals.lately(hour(1'034));
  EXPECT_EQ(lately[23], 1u);
  EXPECT_EQ(std::accumulate(lately.begin(), lately.end(), 0u), 1u);
  arrivals.note(hour(2'000));
  const auto later = arrivals.lately(hour(2'000));
  EXPECT_EQ(std::accumulate(later.begin(), later.end(), 0u), 1u);
}

// The slots of the hours between two arrivals hold counts of the day before: all of them have to be
// cleared, however long the pause was.
TEST(GroupArrivals, CountNothingForTheHoursOfAPause) {
  for (std::int64_t pause = 1; pause <= 30; ++pause) {
    SCOPED_TRACE(pause);
    GroupArrivals arrivals;
    for (std::int64_t i = 0; i < 24; ++i) arrivals.note(hour(1'000 + i));
    const std::int64_t now = 1'023 + pause;
    arrivals.note(hour(now));
    const auto lately = arrivals.lately(hour(now));
    for (std::int64_t i = 0; i < 24; ++i) {
      const std::int64_t then = now - 23 + i;
      EXPECT_EQ(lately[static_cast<std::size_t>(i)], then <= 1'023 || then == now ? 1u : 0u) << i;
    }
  }
}

TEST(FailureGroup, KeepsItsLastSamples) {
  FailureGroup group{};
  for (std::uint64_t i = 1; i <= kGroupSamples + 10; ++i) {
    group.add_sample(static_cast<MessageKey>(i));
  }
  EXPECT_EQ(group.samples.size(), kGroupSamples);
  EXPECT_EQ(number(*std::ranges::min_element(group.samples)), 11u);
}

TEST(FailureGroup, NamesAreKeptOnceAndAreFew) {
  std::vector<NameIndex> names;
  note_name(names, NameIndex::none);
  for (std::uint32_t i = 0; i < 40; ++i) note_name(names, static_cast<NameIndex>(1 + i % 20));
  EXPECT_EQ(names.size(), kGroupNamesMax);
}

}  // namespace
}  // namespace redrive::queue
