#include "core/queue/state.h"

#include <gtest/gtest.h>

#include "tests/core/queue/world.h"

namespace redrive::queue {
namespace {

struct StateTest : testing::Test {
  World world;
  Queue& queue = world.create("orders");

  void redrive(std::uint64_t key, Queue& from, Queue& to, TaskKey task = TaskKey::none) {
    world.apply(MessageRedriven{.task = task,
                                .key = static_cast<MessageKey>(key),
                                .from = from.key,
                                .to = to.key,
                                .message_id = world.ids.uuid(),
                                .sequence = number(world.state.last_key()) + 1});
  }
  void start_task(std::uint32_t task) {
    world.apply(MoveTaskStarted{.task = static_cast<TaskKey>(task),
                                .id = world.ids.uuid(),
                                .source = queue.key,
                                .source_arn = "source",
                                .destination_arn = "destination",
                                .rate = 5,
                                .to_move = 10});
  }
  void end_task(std::uint32_t task, TaskStatus status = TaskStatus::completed) {
    world.apply(MoveTaskEnded{static_cast<TaskKey>(task), status, "why"});
  }
};

TEST_F(StateTest, AQueueIsFoundByItsIdentityKeyAndArn) {
  EXPECT_EQ(world.state.find(identity_of("orders")), &queue);
  EXPECT_EQ(world.state.find(queue.key), &queue);
  EXPECT_EQ(world.state.find_by_arn("arn:aws:sqs:us-east-1:000000000000:orders"), &queue);
  EXPECT_EQ(world.state.find_by_arn("arn:aws-cn:sqs:us-east-1:000000000000:orders"), &queue);
  for (const char* arn : {"",
                          "orders",
                          "arn:aws:sqs:us-east-1:000000000000",
                          "arn:aws:sns:us-east-1:000000000000:orders",
                          "urn:aws:sqs:us-east-1:000000000000:orders",
                          "arn:aws:sqs:eu-west-1:000000000000:orders",
                          "arn:aws:sqs:us-east-1:000000000001:orders",
                          "arn:aws:sqs:us-east-1:000000000000:orders:"}) {
    EXPECT_EQ(world.state.find_by_arn(arn), nullptr) << arn;
  }
}

TEST_F(StateTest, ADocumentOfTheCatalogueThatIsNoUtf8StaysReadable) {
  world.apply(EntryPut{EntryKind::function, "f", "{\"d\":\"a\xed\xa0\x80z\"}"});
  ASSERT_NE(world.state.find_entry(EntryKind::function, "f"), nullptr);
  EXPECT_EQ(*world.state.find_entry(EntryKind::function, "f"), "{\"d\":\"a\uFFFD\uFFFD\uFFFDz\"}");
}

TEST_F(StateTest, QueuesCarryTheTimesAndTagsOfTheirFacts) {
  EXPECT_EQ(queue.created_wall, world.stamp.wall);
  const Timestamp created = world.stamp.wall;
  world.pass(seconds(5));
  world.apply(QueueTagsChanged{queue.key, {{"team", "a"}}});
  EXPECT_EQ(queue.tags, (Tags{{"team", "a"}}));
  EXPECT_EQ(queue.modified_wall, created);  // Tags are no attribute.
  world.change(queue, {});
  EXPECT_EQ(queue.modified_wall, world.stamp.wall);
  EXPECT_EQ(queue.created_wall, created);
}

TEST_F(StateTest, RetentionEndsMessagesInEveryPhase) {
  QueueSettings settings;
  settings.retention = seconds(600);
  world.change(queue, settings);
  world.send(queue);
  world.send(queue, {.delay = seconds(900)});
  world.send(queue);
  world.receive(queue, {.visibility = std::chrono::hours(1)});
  world.pass(seconds(600) - Duration(1));
  EXPECT_EQ(world.counts(queue), (World::Counts{1, 1, 1}));
  world.pass(Duration(1));
  EXPECT_EQ(world.counts(queue), (World::Counts{0, 0, 0}));
  EXPECT_EQ(world.state.messages().size(), 0u);
  EXPECT_EQ(world.ledger.bytes(), 0);
}

TEST_F(StateTest, AShorterRetentionHoldsForWhatIsThere) {
  world.send(queue);
  world.pass(seconds(100));
  world.send(queue);
  QueueSettings settings;
  settings.retention = seconds(60);
  world.change(queue, settings);
  EXPECT_EQ(world.walk(queue), Keys{2});
}

TEST_F(StateTest, APurgeTakesAllMessagesWhateverTheirPhase) {
  world.send(queue);
  world.send(queue);
  world.send(queue, {.delay = seconds(10)});
  world.receive(queue);
  world.apply(QueuePurged{queue.key});
  EXPECT_EQ(world.counts(queue), (World::Counts{0, 0, 0}));
  EXPECT_EQ(queue.purged_at, world.stamp.now);
  world.send(queue);
  EXPECT_EQ(world.walk(queue), Keys{4});
}

TEST_F(StateTest, PurgedMessagesAreBuriedInSlices) {
  for (int i = 0; i < 25; ++i) world.send(queue);
  world.apply(QueuePurged{queue.key});
  EXPECT_EQ(world.state.messages().size(), 25u);
  for (Slot slot = 0; slot < world.state.messages().end(); ++slot) {
    EXPECT_TRUE(world.state.is_buried(slot));
  }
  EXPECT_TRUE(world.state.bury(10));
  EXPECT_EQ(world.state.messages().size(), 15u);
  EXPECT_TRUE(world.state.bury(10));
  EXPECT_FALSE(world.state.bury(10));
  EXPECT_EQ(world.state.messages().size(), 0u);
  EXPECT_EQ(world.ledger.bytes(), 0);
  EXPECT_FALSE(world.state.bury(10));
}

TEST_F(StateTest, AResetForgetsEveryQueueAndWhatWasDeletedBefore) {
  Queue& other = world.create("other");
  world.create("gone");
  world.send(queue);
  world.send(other);
  world.apply(QueueDeleted{world.state.find(identity_of("gone"))->key});
  ASSERT_TRUE(world.state.deleted_at(identity_of("gone"), world.stamp.now));
  world.apply(MoveTaskStarted{.task = next(TaskKey::none), .source = queue.key});

  world.apply(ServerReset{});
  EXPECT_TRUE(world.state.queues().empty());
  EXPECT_TRUE(world.state.tasks().empty());
  EXPECT_EQ(world.state.deleted_at(identity_of("gone"), world.stamp.now), std::nullopt);
  EXPECT_EQ(world.state.deleted_at(identity_of("other"), world.stamp.now), std::nullopt);
  while (world.state.bury(10)) {
  }
  EXPECT_EQ(world.ledger.bytes(), 0);

  Queue& anew = world.create("orders");
  world.send(anew);
  EXPECT_EQ(world.walk(anew), Keys{3});
}

TEST_F(StateTest, BuryingLeavesOtherMessagesAlone) {
  Queue& other = world.create("other");
  for (int i = 0; i < 5; ++i) world.send(queue);
  world.send(other);
  world.apply(QueuePurged{queue.key});
  world.send(queue);
  while (world.state.bury(2)) {
  }
  EXPECT_EQ(world.walk(queue), Keys{7});
  EXPECT_EQ(world.walk(other), Keys{6});
  EXPECT_EQ(world.ledger.bytes(), 2 * World::kBodyBytes);
}

TEST_F(StateTest, ADeletedQueueIsGoneAndItsMessagesAreBuried) {
  world.send(queue);
  const QueueKey old = queue.key;
  world.apply(QueueDeleted{old});
  EXPECT_EQ(world.state.find(identity_of("orders")), nullptr);
  EXPECT_EQ(world.state.find(old), nullptr);
  EXPECT_FALSE(world.state.bury(10));
  EXPECT_EQ(world.state.messages().size(), 0u);

  Queue& again = world.create("orders");
  EXPECT_GT(again.key, old);  // Keys are never reused.
  EXPECT_EQ(world.counts(again), (World::Counts{0, 0, 0}));
}

TEST_F(StateTest, ADeletionIsRememberedForAMinute) {
  EXPECT_EQ(world.state.deleted_at(identity_of("orders"), world.stamp.now), std::nullopt);
  world.apply(QueueDeleted{queue.key});
  const Timestamp deleted = world.stamp.now;
  EXPECT_EQ(world.state.deleted_at(identity_of("orders"), deleted + seconds(59)), deleted);
  EXPECT_EQ(world.state.deleted_at(identity_of("orders"), deleted + seconds(60)), std::nullopt);
  EXPECT_EQ(world.state.deleted_at(identity_of("other"), deleted), std::nullopt);
  world.create("orders");
  EXPECT_EQ(world.state.deleted_at(identity_of("orders"), deleted), std::nullopt);
}

TEST_F(StateTest, ARedrivenMessageIsNewButKeepsItsHistory) {
  Queue& dead = world.create("dead");
  QueueSettings settings;
  settings.redrive = RedrivePolicy{dead.identity.arn(), 1};
  world.change(queue, settings);
  world.send(queue);
  world.receive(queue, {.visibility = seconds(0)});
  world.receive(queue);
  ASSERT_EQ(world.walk(dead), Keys{1});
  world.receive(dead, {.visibility = seconds(0)});
  world.pass(seconds(100));
  redrive(1, dead, queue);

  EXPECT_EQ(world.walk(dead), Keys{});
  EXPECT_EQ(world.walk(queue), Keys{1});
  const Message& message = world.message(1);
  EXPECT_EQ(message.receive_count, 0u);
  EXPECT_EQ(message.sent_at, world.stamp.now);
  const History& history = world.history(1);
  EXPECT_EQ(history.redrives, 1u);
  EXPECT_EQ(history.prior_receives, 2u);
  EXPECT_EQ(history.attempts_total, 2u);
  EXPECT_EQ(history.dead_letter_source, NameIndex::none);
  EXPECT_EQ(history.origin, queue.arn);
  EXPECT_EQ(history.sent_wall, world.stamp.wall);
  EXPECT_TRUE(history.message_id.has_value());

  world.pass(seconds(1));
  EXPECT_EQ(world.receive(queue, {.visibility = seconds(0)}), Keys{1});  // Its one receive.
  EXPECT_EQ(world.history(1).first_received_wall, world.stamp.wall);
  EXPECT_EQ(world.receive(queue), Keys{});
  EXPECT_EQ(world.walk(dead), Keys{1});
}

TEST_F(StateTest, ARedrivenMessageStandsBehindWhatIsThere) {
  Queue& fifo = world.create("orders.fifo", fifo_settings());
  Queue& dead = world.create("dead.fifo", fifo_settings());
  world.send(dead, {.group = "g"});
  world.send(fifo, {.group = "g"});
  redrive(1, dead, fifo);
  EXPECT_EQ(world.receive_all(fifo), (Keys{2, 1}));
  world.send(fifo, {.group = "g"});
  EXPECT_GT(number(world.state.last_key()), 3u);  // The move took a number of its own.
}

TEST_F(StateTest, EveryReceiveIsInTheHistory) {
  world.send(queue);
  world.receive(queue, {.visibility = seconds(10)});
  world.pass(seconds(25));
  world.receive(queue, {.visibility = seconds(10)});
  world.pass(seconds(4));
  world.hold(queue, 1, seconds(0));
  world.receive(queue);
  const auto& attempts = world.history(1).attempts;
  ASSERT_EQ(attempts.size(), 3u);
  EXPECT_EQ(attempts[0].end, AttemptEnd::visibility_expired);
  EXPECT_EQ(attempts[0].duration_ms, 10'000u);  // Until the timeout, not until the next receive.
  EXPECT_EQ(attempts[1].end, AttemptEnd::released);
  EXPECT_EQ(attempts[1].duration_ms, 4'000u);
  EXPECT_EQ(attempts[2].end, AttemptEnd::open);
}

TEST_F(StateTest, RelocationMovesTheHoldToTheNewPlace) {
  world.send(queue);
  EXPECT_EQ(world.ledger.holds(1), 1);
  const BodyRef there{7, 4242, World::kBodyBytes};
  world.apply(MessageRelocated{static_cast<MessageKey>(1), "", there});
  EXPECT_EQ(world.message(1).body, there);
  EXPECT_EQ(world.ledger.holds(1), 0);
  EXPECT_EQ(world.ledger.holds(4242), 1);
  world.forget(queue, 1);
  EXPECT_EQ(world.ledger.holds(4242), 0);
  world.apply(MessageRelocated{static_cast<MessageKey>(1), "", there});  // Deleted meanwhile.
  EXPECT_EQ(world.ledger.bytes(), 0);
}

TEST_F(StateTest, NamesAreLearnedOnce) {
  const NameIndex first = world.name("consumer");
  EXPECT_EQ(world.name("consumer"), first);
  EXPECT_EQ(world.state.name(first), "consumer");
  world.apply(NameLearned{first, "consumer"});  // A checkpoint repeats what is known.
  EXPECT_EQ(world.state.find_name("consumer"), first);
  EXPECT_EQ(world.state.find_name("nobody"), NameIndex::none);
}

TEST_F(StateTest, FactsAboutWhatIsNotThereAreCountedAndChangeNothing) {
  world.send(queue);
  EXPECT_EQ(world.state.orphans(), 0u);
  world.apply(MessageDeleted{queue.key, static_cast<MessageKey>(99)});
  world.apply(MessageDeleted{static_cast<QueueKey>(99), static_cast<MessageKey>(1)});
  world.apply(VisibilityChanged{queue.key, static_cast<MessageKey>(99), world.stamp.now});
  world.apply(QueuePurged{static_cast<QueueKey>(99)});
  EXPECT_EQ(world.state.orphans(), 4u);
  EXPECT_EQ(world.walk(queue), Keys{1});
}

TEST_F(StateTest, AMoveTaskCountsWhatItMovedAndHowItEnded) {
  Queue& dead = world.create("dead");
  world.send(dead);
  start_task(1);
  ASSERT_NE(world.state.active_task(queue.key), nullptr);
  redrive(1, dead, queue, static_cast<TaskKey>(1));
  const MoveTask& task = *world.state.find_task(static_cast<TaskKey>(1));
  EXPECT_EQ(task.counts.moved, 1u);
  EXPECT_EQ(task.status, TaskStatus::running);
  EXPECT_EQ(task.started_wall, world.stamp.wall);
  end_task(1, TaskStatus::failed);
  EXPECT_EQ(task.status, TaskStatus::failed);
  EXPECT_EQ(task.failure, "why");
  EXPECT_EQ(world.state.active_task(queue.key), nullptr);
}

TEST_F(StateTest, ASourceRemembersItsLastTasks) {
  for (std::uint32_t task = 1; task <= 60; ++task) {
    start_task(task);
    EXPECT_LE(world.state.tasks().size(), kTasksKeptPerSource);
    end_task(task);
  }
  ASSERT_EQ(world.state.tasks().size(), kTasksKeptPerSource);
  EXPECT_EQ(number(world.state.tasks().begin()->first), 11u);
  EXPECT_EQ(number(world.state.last_task()), 60u);
}

}  // namespace
}  // namespace redrive::queue
