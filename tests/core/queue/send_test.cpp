#include "core/queue/send.h"

#include <gtest/gtest.h>

#include "tests/core/queue/world.h"

namespace redrive::queue {
namespace {

TEST(DecideSend, GivesEveryMessageItsOwnIdAndTheNextKey) {
  World world;
  Queue& queue = world.create("orders");
  const auto outcomes = world.send_batch(queue, {{}, {}});
  EXPECT_NE(outcomes[0].message_id, outcomes[1].message_id);
  EXPECT_EQ(outcomes[0].sequence, 0u);  // Standard queues count nothing.
  EXPECT_EQ(world.walk(queue), (Keys{1, 2}));
}

TEST(DecideSend, DelaysByItsOwnDelayOrTheQueues) {
  World world;
  QueueSettings settings;
  settings.delay = seconds(60);
  Queue& queue = world.create("orders", settings);
  world.send(queue);
  world.send(queue, {.delay = seconds(5)});
  world.send(queue, {.delay = seconds(0)});
  EXPECT_EQ(world.message(1).visible_at, world.stamp.now + seconds(60));
  EXPECT_EQ(world.message(2).visible_at, world.stamp.now + seconds(5));
  EXPECT_EQ(world.walk(queue), Keys{3});
}

TEST(DecideSend, AStandardQueueKnowsNoDuplicates) {
  World world;
  Queue& queue = world.create("orders");
  world.send_batch(queue, {{.dedup = "same"}, {.dedup = "same"}});
  EXPECT_EQ(world.walk(queue), (Keys{1, 2}));
}

// What is decided and not yet applied is for several queues.
TEST(DecideSend, GoesOnBehindWhatIsDecidedForOthers) {
  World world;
  Queue& orders = world.create("orders.fifo", fifo_settings());
  Queue& bills = world.create("bills.fifo", fifo_settings());
  std::vector<Change> changes;
  const auto send = [&](Queue& queue, std::string_view dedup) {
    const Draft draft{.group = "g", .dedup = dedup};
    SendOutcome outcome;
    decide_send(world.state, queue, {&draft, 1}, world.stamp, world.ids, changes, {&outcome, 1});
    return outcome;
  };
  const SendOutcome first = send(orders, "x");
  EXPECT_EQ(first.sequence, 1u);
  EXPECT_EQ(send(bills, "x").sequence, 2u);  // Another queue's id.
  const SendOutcome again = send(orders, "x");
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.message_id, first.message_id);
  EXPECT_EQ(again.sequence, first.sequence);
  EXPECT_EQ(send(orders, "y").sequence, 3u);
  EXPECT_EQ(changes.size(), 3u);
}

struct Dedup : testing::Test {
  World world;
  Queue& queue = world.create("orders.fifo", fifo_settings());
};

TEST_F(Dedup, SequenceNumbersGrow) {
  const auto outcomes = world.send_batch(queue, {{.group = "a"}, {.group = "b"}, {.group = "a"}});
  EXPECT_LT(outcomes[0].sequence, outcomes[1].sequence);
  EXPECT_LT(outcomes[1].sequence, outcomes[2].sequence);
}

TEST_F(Dedup, ADuplicateIsAnsweredLikeTheFirstAndStoresNothing) {
  const SendOutcome first = world.send(queue, {.group = "g", .dedup = "x"});
  EXPECT_FALSE(first.duplicate);
  const SendOutcome again = world.send(queue, {.group = "g", .dedup = "x"});
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.message_id, first.message_id);
  EXPECT_EQ(again.sequence, first.sequence);
  EXPECT_EQ(world.walk(queue), Keys{1});
}

TEST_F(Dedup, WithinABatchTheFirstOfEqualIdsWins) {
  const auto outcomes = world.send_batch(queue,
                                         {{.group = "g", .dedup = "x"},
                                          {.group = "g", .dedup = "y"},
                                          {.group = "g", .dedup = "x"},
                                          {.group = "g", .dedup = "x"}});
  EXPECT_FALSE(outcomes[0].duplicate);
  EXPECT_FALSE(outcomes[1].duplicate);
  for (const std::size_t i : {2, 3}) {
    EXPECT_TRUE(outcomes[i].duplicate);
    EXPECT_EQ(outcomes[i].message_id, outcomes[0].message_id);
    EXPECT_EQ(outcomes[i].sequence, outcomes[0].sequence);
  }
  EXPECT_EQ(world.walk(queue), (Keys{1, 2}));
}

TEST_F(Dedup, TheWindowRunsFiveMinutesFromTheFirstAndIsNotExtended) {
  world.send(queue, {.group = "g", .dedup = "x"});
  world.pass(kDedupWindow - Duration(1));
  EXPECT_TRUE(world.send(queue, {.group = "g", .dedup = "x"}).duplicate);
  world.pass(Duration(1));
  EXPECT_FALSE(world.send(queue, {.group = "g", .dedup = "x"}).duplicate);
}

TEST_F(Dedup, AnIdStaysTakenAfterItsMessageIsGone) {
  world.send(queue, {.group = "g", .dedup = "x"});
  world.receive(queue);
  world.forget(queue, 1);
  EXPECT_TRUE(world.send(queue, {.group = "g", .dedup = "x"}).duplicate);
}

TEST_F(Dedup, ScopedToTheQueueAnIdHoldsAcrossGroups) {
  world.send(queue, {.group = "a", .dedup = "x"});
  EXPECT_TRUE(world.send(queue, {.group = "b", .dedup = "x"}).duplicate);
}

TEST_F(Dedup, ScopedToTheGroupAnIdHoldsInItsGroup) {
  Queue& grouped = world.create("grouped.fifo", fifo_settings(DedupScope::message_group));
  world.send(grouped, {.group = "a", .dedup = "x"});
  EXPECT_FALSE(world.send(grouped, {.group = "b", .dedup = "x"}).duplicate);
  EXPECT_TRUE(world.send(grouped, {.group = "a", .dedup = "x"}).duplicate);
  const auto batch =
      world.send_batch(grouped, {{.group = "c", .dedup = "y"}, {.group = "d", .dedup = "y"}});
  EXPECT_FALSE(batch[1].duplicate);
}

// Changing the attribute changes what is reported, not what is done.
TEST_F(Dedup, TheScopeIsThatOfTheQueuesBirth) {
  QueueSettings settings = fifo_settings();
  settings.fifo->dedup_scope = DedupScope::message_group;
  world.change(queue, settings);
  world.send(queue, {.group = "a", .dedup = "x"});
  EXPECT_TRUE(world.send(queue, {.group = "b", .dedup = "x"}).duplicate);
}

TEST_F(Dedup, QueuesDoNotShareIds) {
  Queue& other = world.create("other.fifo", fifo_settings());
  world.send(queue, {.group = "g", .dedup = "x"});
  EXPECT_FALSE(world.send(other, {.group = "g", .dedup = "x"}).duplicate);
}

TEST_F(Dedup, APurgeClearsTheTable) {
  world.send(queue, {.group = "g", .dedup = "x"});
  world.apply(QueuePurged{queue.key});
  EXPECT_FALSE(world.send(queue, {.group = "g", .dedup = "x"}).duplicate);
  EXPECT_EQ(world.walk(queue), Keys{2});
}

}  // namespace
}  // namespace redrive::queue
