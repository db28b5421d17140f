#include "core/queue/failure_group.h"

#include <gtest/gtest.h>

namespace redrive::queue {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;

constexpr Timestamp kGroupNoon(1'800'000'000'000);

GroupArrivals arrivals_at(std::initializer_list<std::pair<minutes, int>> ago) {
  GroupArrivals arrivals;
  for (const auto& [before, count] : ago) {
    for (int i = 0; i < count; ++i) arrivals.note(kGroupNoon - before);
  }
  return arrivals;
}

TEST(GroupArrivals, EscalatesByTheRuleOfFive) {
  struct Case {
    const char* name;
    GroupArrivals arrivals;
    bool escalating;
  };
  const Case cases[] = {
      {"nothing", {}, false},
      {"two in five minutes are fewer than 0.5 a minute", arrivals_at({{minutes(1), 2}}), false},
      {"three in five minutes, none before", arrivals_at({{minutes(1), 3}}), true},
      {"as five times the hour before", arrivals_at({{minutes(30), 12}, {minutes(1), 5}}), false},
      {"more than five times", arrivals_at({{minutes(30), 12}, {minutes(1), 6}}), true},
      {"what is older than the hour does not count",
       arrivals_at({{minutes(90), 1000}, {minutes(1), 3}}),
       true},
      {"it was so ten minutes ago", arrivals_at({{minutes(10), 50}}), false},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(one.arrivals.is_escalating(kGroupNoon), one.escalating);
  }
}

TEST(GroupArrivals, CountTheLastFourteenDays) {
  const GroupArrivals arrivals =
      arrivals_at({{days(20), 7}, {days(13), 2}, {days(1), 3}, {minutes(0), 1}});
  const auto daily = arrivals.daily(kGroupNoon);
  EXPECT_EQ(daily[0], 2u);
  EXPECT_EQ(daily[12], 3u);
  EXPECT_EQ(daily[13], 1u);
  EXPECT_EQ(arrivals.total, 13u);
  EXPECT_EQ(arrivals.daily(kGroupNoon + days(13))[0], 1u);
  EXPECT_EQ(arrivals.daily(kGroupNoon + days(14))[0], 0u);
}

TEST(GroupArrivals, OneThatCameEarlierIsCountedInItsHour) {
  GroupArrivals arrivals;
  arrivals.note(kGroupNoon);
  arrivals.note(kGroupNoon - hours(2));
  arrivals.note(kGroupNoon - hours(48));
  EXPECT_EQ(arrivals.lately(kGroupNoon)[23], 1u);
  EXPECT_EQ(arrivals.lately(kGroupNoon)[21], 1u);
  EXPECT_EQ(arrivals.last_wall, kGroupNoon);
  EXPECT_EQ(arrivals.first_wall, kGroupNoon - hours(48));
}

TEST(GroupArrivals, AbsorbAnothers) {
  GroupArrivals one = arrivals_at({{days(3), 2}, {hours(30), 4}});
  const GroupArrivals other = arrivals_at({{days(3), 1}, {hours(1), 5}});
  one.absorb(other);
  EXPECT_EQ(one.total, 12u);
  EXPECT_EQ(one.daily(kGroupNoon)[10], 3u);
  EXPECT_EQ(one.lately(kGroupNoon)[22], 5u);
  EXPECT_EQ(one.last_wall, kGroupNoon - hours(1));
}

TEST(FailureGroup, IsIgnoredUntilATimeOrACount) {
  FailureGroup group{.status = GroupStatus::ignored};
  EXPECT_EQ(group.status_at(kGroupNoon), GroupStatus::ignored);
  group.ignored_until = kGroupNoon;
  EXPECT_EQ(group.status_at(kGroupNoon - minutes(1)), GroupStatus::ignored);
  EXPECT_EQ(group.status_at(kGroupNoon), GroupStatus::known);
  group.ignored_until = Timestamp();
  group.ignored_to_total = 3;
  group.arrivals.total = 2;
  EXPECT_EQ(group.status_at(kGroupNoon), GroupStatus::ignored);
  group.arrivals.total = 3;
  EXPECT_EQ(group.status_at(kGroupNoon), GroupStatus::known);
}

}  // namespace
}  // namespace redrive::queue
