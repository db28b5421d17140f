#include "core/queue/settings.h"

#include <gtest/gtest.h>

#include "core/queue/ids.h"

namespace redrive::queue {
namespace {

using Permission = RedriveAllowPolicy::Permission;

TEST(RedriveAllowPolicy, SaysWhichSourcesMayUseTheQueue) {
  EXPECT_TRUE(RedriveAllowPolicy{.permission = Permission::allow_all}.allows("a"));
  EXPECT_FALSE(RedriveAllowPolicy{.permission = Permission::deny_all}.allows("a"));
  const RedriveAllowPolicy some{.permission = Permission::by_queue, .source_arns = {"a", "b"}};
  EXPECT_TRUE(some.allows("a"));
  EXPECT_TRUE(some.allows("b"));
  EXPECT_FALSE(some.allows("c"));
}

TEST(QueueIdentity, HasAnArn) {
  EXPECT_EQ((QueueIdentity{"123456789012", "eu-west-1", "orders.fifo"}.arn()),
            "arn:aws:sqs:eu-west-1:123456789012:orders.fifo");
}

// Each redrive multiplies the delay, up to the maximum; a rate of one leaves it as it is.
TEST(DeadLetterPolicy, DelaysGrowUpToTheirMaximum) {
  DeadLetterPolicy policy{.redrive_after = seconds(10), .backoff_rate = 3};
  policy.redrive_after_max = seconds(100);
  const std::int64_t expected[] = {10, 30, 90, 100, 100};
  for (std::uint32_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(policy.delay_after(i).count(), expected[i]) << i;
  }
  EXPECT_EQ(policy.delay_after(1'000'000).count(), 100);
  policy.backoff_rate = 1;
  EXPECT_EQ(policy.delay_after(5).count(), 10);
}

}  // namespace
}  // namespace redrive::queue
