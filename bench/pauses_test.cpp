#include "bench/pauses.h"

#include <gtest/gtest.h>

namespace redrive::bench {
namespace {

using std::chrono::milliseconds;

Nanos outside(int begin, int end, std::vector<Pause> pauses) {
  return time_outside(milliseconds(begin), milliseconds(end), std::move(pauses));
}
Pause pause(int begin, int end) {
  return {milliseconds(begin), milliseconds(end)};
}

TEST(PausesTest, OnlyTheTimeOutsideCounts) {
  EXPECT_EQ(outside(10, 20, {}), milliseconds(10));
  EXPECT_EQ(outside(10, 20, {pause(0, 5), pause(30, 40)}), milliseconds(10));
  EXPECT_EQ(outside(10, 20, {pause(12, 15)}), milliseconds(7));
  EXPECT_EQ(outside(10, 20, {pause(5, 12), pause(18, 25)}), milliseconds(6));
  EXPECT_EQ(outside(10, 20, {pause(0, 40)}), milliseconds(0));
}

TEST(PausesTest, PausesOfSeveralProcessorsOverlap) {
  EXPECT_EQ(outside(10, 20, {pause(14, 18), pause(12, 16)}), milliseconds(4));
  EXPECT_EQ(outside(10, 20, {pause(12, 18), pause(13, 14)}), milliseconds(4));
}

}  // namespace
}  // namespace redrive::bench
