#include <gtest/gtest.h>

#include "tests/core/queue/world.h"

// One rule gives all of this: within a group take messages in order and stop at the first that is
// not visible.

namespace redrive::queue {
namespace {

struct Fifo : testing::Test {
  World world;
  Queue& queue = world.create("orders.fifo", fifo_settings());

  void send(std::initializer_list<const char*> groups) {
    for (const char* group : groups) world.send(queue, {.group = group});
  }
};

TEST_F(Fifo, AGroupWhoseHeadIsInFlightYieldsNothing) {
  send({"g", "g"});
  EXPECT_EQ(world.receive(queue), Keys{1});
  EXPECT_EQ(world.receive_all(queue), Keys{});
  send({"g"});  // Nor does a new one unblock it.
  EXPECT_EQ(world.receive_all(queue), Keys{});
}

TEST_F(Fifo, OtherGroupsAreNotBlocked) {
  send({"g", "h"});
  EXPECT_EQ(world.receive(queue), Keys{1});
  EXPECT_EQ(world.receive_all(queue), Keys{2});
}

TEST_F(Fifo, DeletingAllThatIsInFlightUnblocksTheGroup) {
  send({"g", "g", "g"});
  EXPECT_EQ(world.receive(queue, {.max = 2}), (Keys{1, 2}));
  world.forget(queue, 1);
  EXPECT_EQ(world.receive_all(queue), Keys{});  // The second still blocks.
  world.forget(queue, 2);
  EXPECT_EQ(world.receive_all(queue), Keys{3});
}

TEST_F(Fifo, AMessageGivenBackComesAloneWhileTheNextIsInFlight) {
  send({"g", "g"});
  EXPECT_EQ(world.receive(queue, {.max = 2}), (Keys{1, 2}));
  world.hold(queue, 1, seconds(0));
  EXPECT_EQ(world.receive_all(queue), Keys{1});
}

TEST_F(Fifo, OnlyWhatStandsBeforeAnExtendedMessageComesBack) {
  const std::pair<std::uint64_t, Keys> cases[] = {{1, {}}, {2, {1}}, {3, {1, 2}}};
  for (const auto& [extended, expected] : cases) {
    World fresh;
    Queue& orders = fresh.create("orders.fifo", fifo_settings());
    for (int i = 0; i < 3; ++i) fresh.send(orders, {.group = "g"});
    ASSERT_EQ(fresh.receive(orders, {.max = 3, .visibility = seconds(1)}), (Keys{1, 2, 3}));
    fresh.hold(orders, extended, seconds(30));
    fresh.pass(seconds(1));
    EXPECT_EQ(fresh.receive_all(orders), expected) << "extended " << extended;
  }
}

TEST_F(Fifo, AReceiveTakesOneGroupAsFarAsItGoesThenTheNext) {
  send({"g1", "g2", "g1", "g1"});
  EXPECT_EQ(world.receive_all(queue), (Keys{1, 3, 4, 2}));
}

TEST_F(Fifo, AGroupJustServedGoesBehindTheOthers) {
  send({"g1", "g2", "g2", "g3", "g1"});
  EXPECT_EQ(world.receive(queue, {.max = 3, .visibility = seconds(0)}), (Keys{1, 5, 2}));
  EXPECT_EQ(world.receive_all(queue), (Keys{4, 1, 5, 2, 3}));
}

TEST_F(Fifo, BlockedMessagesCountAsVisible) {
  send({"g", "g", "g"});
  world.receive(queue);
  EXPECT_EQ(world.counts(queue), (World::Counts{2, 1, 0}));
}

TEST_F(Fifo, ATimeoutThatEndsPutsTheMessageBackInItsPlace) {
  send({"g", "g"});
  world.receive(queue, {.visibility = seconds(5)});
  world.pass(seconds(5));
  EXPECT_EQ(world.receive_all(queue), (Keys{1, 2}));
}

TEST_F(Fifo, TheDelayOfTheQueueHoldsForAllAndKeepsTheOrder) {
  QueueSettings settings = fifo_settings();
  settings.delay = seconds(10);
  world.change(queue, settings);
  send({"g"});
  world.pass(seconds(5));
  send({"g"});
  world.pass(seconds(5));
  EXPECT_EQ(world.receive_all(queue), Keys{1});
  world.forget(queue, 1);
  EXPECT_EQ(world.receive_all(queue), Keys{});
  world.pass(seconds(5));
  EXPECT_EQ(world.receive_all(queue), Keys{2});
}

// On a FIFO queue a new delay also holds for what is already waiting.
TEST_F(Fifo, ANewDelayIsRetroactive) {
  QueueSettings settings = fifo_settings();
  settings.delay = seconds(100);
  world.change(queue, settings);
  send({"g"});
  world.pass(seconds(10));

  settings.delay = seconds(30);
  world.change(queue, settings);
  EXPECT_EQ(world.state.mailbox(queue).next_visible_at(), world.stamp.now + seconds(20));

  settings.delay = seconds(5);  // Already over.
  world.change(queue, settings);
  EXPECT_EQ(world.counts(queue), (World::Counts{1, 0, 0}));
  EXPECT_EQ(world.receive_all(queue), Keys{1});
}

TEST_F(Fifo, ANewDelayLeavesMessagesInFlightAlone) {
  send({"g"});
  world.receive(queue, {.visibility = seconds(60)});
  QueueSettings settings = fifo_settings();
  settings.delay = seconds(1);
  world.change(queue, settings);
  world.pass(seconds(10));
  EXPECT_EQ(world.counts(queue), (World::Counts{0, 1, 0}));
}

TEST(Standard, ANewDelayIsNotRetroactive) {
  World world;
  Queue& queue = world.create("orders");
  world.send(queue, {.delay = seconds(100)});
  QueueSettings settings;
  settings.delay = seconds(1);
  world.change(queue, settings);
  world.pass(seconds(50));
  EXPECT_EQ(world.counts(queue), (World::Counts{0, 0, 1}));
}

TEST_F(Fifo, AGroupWithoutMessagesIsForgotten) {
  send({"g1", "g2", "g3"});
  EXPECT_EQ(world.state.mailbox(queue).groups(), 3u);
  for (std::uint64_t key = 1; key <= 3; ++key) world.forget(queue, key);
  EXPECT_EQ(world.state.mailbox(queue).groups(), 0u);
  send({"g4", "g1"});
  EXPECT_EQ(world.receive_all(queue), (Keys{4, 5}));
}

// A new delay reaches messages in portions.
struct Redelay : testing::Test {
  World world;
  Queue& queue = world.create("line.fifo", delayed_by(seconds(100)));

  static QueueSettings delayed_by(seconds delay) {
    QueueSettings settings = fifo_settings();
    settings.delay = delay;
    return settings;
  }
  // Changes the delay and gives it to so many messages.
  void change_delay(seconds delay, std::size_t steps) {
    world.state.grant(steps);
    world.change(queue, delayed_by(delay));
    world.state.grant(0);
  }
};

TEST_F(Redelay, IsForWhatWasThereAndNotForWhatComesLater) {
  for (int i = 0; i < 4; ++i) world.send(queue, {.group = "g"});
  change_delay(seconds(10), 1);
  world.apply(MessageSent{.queue = queue.key,
                          .key = MessageKey{5},
                          .message_id = Uuid{{5}},
                          .visible_at = world.stamp.now + seconds(50),
                          .group = "h",
                          .dedup = "d",
                          .body = {1, 5, World::kBodyBytes}});
  ASSERT_TRUE(world.state.mailbox(queue).is_redelaying());
  world.state.grant(SIZE_MAX);
  world.pass(seconds(10));
  EXPECT_EQ(world.walk(queue), (Keys{1, 2, 3, 4}));
  EXPECT_FALSE(world.state.mailbox(queue).is_redelaying());
  world.pass(seconds(40));
  EXPECT_EQ(world.walk(queue).size(), 5u);
}

TEST_F(Redelay, OfMessagesThatLeaveMeanwhileGoesOn) {
  for (int i = 0; i < 4; ++i) world.send(queue, {.group = "g"});
  change_delay(seconds(10), 2);
  world.apply(MessageDeleted{queue.key, MessageKey{2}});
  world.apply(MessageDeleted{queue.key, MessageKey{3}});
  world.state.grant(SIZE_MAX);
  world.pass(seconds(10));
  EXPECT_EQ(world.walk(queue), (Keys{1, 4}));
}

}  // namespace
}  // namespace redrive::queue
