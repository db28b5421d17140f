#include "base/clock.h"

#include <gtest/gtest.h>

namespace redrive {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST(ManualClock, MovesBothTimesWhenToldTo) {
  ManualClock clock(Timestamp(1'000));
  EXPECT_EQ(clock.steady(), Timestamp(1'000));
  EXPECT_EQ(clock.wall(), Timestamp(1'000));
  clock.advance(seconds(2));
  EXPECT_EQ(clock.steady(), Timestamp(3'000));
  EXPECT_EQ(clock.wall(), Timestamp(3'000));
}

TEST(ManualClock, AWallThatJumpsLeavesTheSteadyTimeAlone) {
  ManualClock clock(Timestamp(10'000'000));
  clock.jump_wall(hours(-1));
  clock.advance(seconds(1));
  EXPECT_EQ(clock.steady(), Timestamp(10'001'000));
  EXPECT_EQ(clock.wall(), Timestamp(6'401'000));
}

TEST(VirtualClock, MovesBothTimesWhenToldTo) {
  VirtualClock clock(Timestamp(1'000));
  clock.advance(seconds(2));
  EXPECT_EQ(clock.steady(), Timestamp(3'000));
  EXPECT_EQ(clock.wall(), Timestamp(3'000));
}

TEST(SystemClock, TheSteadyTimeNeverFallsAndTheWallIsOfThisAge) {
  const SystemClock clock;
  Timestamp last = clock.steady();
  for (int i = 0; i < 1000; ++i) {
    const Timestamp now = clock.steady();
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_GT(clock.wall(), Timestamp(1'700'000'000'000));
}

TEST(Timestamp, IsOrderedAndMeasuredInMilliseconds) {
  const Timestamp noon(43'200'999);
  EXPECT_EQ(noon.seconds(), 43'200);
  EXPECT_EQ(noon + Duration(1), Timestamp(43'201'000));
  EXPECT_EQ(noon - Duration(999), Timestamp(43'200'000));
  EXPECT_EQ(Timestamp(5'000) - Timestamp(7'000), seconds(-2));
  EXPECT_LT(noon, noon + Duration(1));
  EXPECT_LT(noon, kNever);
}

}  // namespace
}  // namespace redrive
