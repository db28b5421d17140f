#include "front/refusal_limit.h"

#include <gtest/gtest.h>

namespace redrive::front {
namespace {

using std::chrono::seconds;

struct RefusalLimitTest : testing::Test {
  RefusalLimit limit{{.lines_per_second = 2, .burst = 5, .callers_max = 3}};
  RefusalLimit::TimePoint now{seconds(1000)};

  int admitted(int tries, const std::string& who = "shop") {
    int count = 0;
    for (int i = 0; i < tries; ++i) count += limit.admit(who, "10.0.0.7", now) ? 1 : 0;
    return count;
  }
};

TEST_F(RefusalLimitTest, ABurstPassesThenARate) {
  EXPECT_EQ(admitted(100), 5);
  now += seconds(2);
  EXPECT_EQ(admitted(100), 4);
  now += seconds(3600);
  EXPECT_EQ(admitted(100), 5);
}

TEST_F(RefusalLimitTest, WhatIsLeftOutIsCountedOnce) {
  admitted(25);
  const auto counted = limit.take_suppressed(now);
  ASSERT_EQ(counted.size(), 1u);
  EXPECT_EQ(counted[0].who, "shop");
  EXPECT_EQ(counted[0].from, "10.0.0.7");
  EXPECT_EQ(counted[0].count, 20u);
  EXPECT_TRUE(limit.take_suppressed(now).empty());
}

TEST_F(RefusalLimitTest, OneCallerDoesNotUseUpAnothersLines) {
  admitted(100);
  EXPECT_EQ(admitted(3, "other"), 3);
}

// However many names and addresses there are, memory and lines are bounded.
TEST_F(RefusalLimitTest, BeyondSoManyCallersTheyShareABudget) {
  int count = 0;
  for (int i = 0; i < 1000; ++i) count += admitted(1, "caller " + std::to_string(i));
  EXPECT_EQ(count, 3 + 5);
  std::uint64_t suppressed = 0;
  for (const auto& entry : limit.take_suppressed(now)) suppressed += entry.count;
  EXPECT_EQ(suppressed, 992u);
  now += seconds(100);
  limit.take_suppressed(now);  // All of them are forgotten.
  EXPECT_EQ(admitted(100, "caller 999"), 5);
}

}  // namespace
}  // namespace redrive::front
