#include "queue/settings.h"

#include <gtest/gtest.h>

#include "queue/ids.h"

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

}  // namespace
}  // namespace redrive::queue
