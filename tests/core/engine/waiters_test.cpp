#include "core/engine/waiters.h"

#include <gtest/gtest.h>

#include "tests/core/engine/engine_world.h"

namespace redrive::engine {
namespace {

using Bodies = EngineWorld::Bodies;

struct LongPolls : testing::Test {
  EngineWorld world;
  LongPolls() { world.create("orders"); }
};

TEST_F(LongPolls, ASendAnswersAWaitingReceiveAtOnce) {
  const auto waiting = world.wait("orders", seconds(20));
  EXPECT_EQ(world.engine().waiting(), 1u);
  world.send("orders", "hello");
  EXPECT_TRUE(waiting->ended_with({"hello"}));
  EXPECT_EQ(world.engine().waiting(), 0u);
}

TEST_F(LongPolls, WhatIsThereIsNotWaitedFor) {
  world.send("orders", "hello");
  auto start = world.engine().receive(identity_of("orders"), {}, seconds(20), [](auto) { FAIL(); });
  ASSERT_TRUE(start.answer.has_value());
  EXPECT_EQ(world.bodies_of(**start.answer), Bodies{"hello"});
}

TEST_F(LongPolls, AreServedInTheOrderOfComing) {
  const auto first = world.wait("orders", seconds(20), 1);
  const auto second = world.wait("orders", seconds(5), 1);
  const auto third = world.wait("orders", seconds(20), 1);
  world.send("orders", "a");
  EXPECT_TRUE(first->ended_with({"a"}));
  EXPECT_FALSE(second->ended);
  world.send("orders", "b");
  EXPECT_TRUE(second->ended_with({"b"}));
  EXPECT_FALSE(third->ended);
}

TEST_F(LongPolls, EndEmptyAtTheirDeadline) {
  const auto waiting = world.wait("orders", seconds(20));
  EXPECT_EQ(world.engine().armed(), world.engine().now() + seconds(20));
  world.pass(seconds(20) - Duration(1));
  EXPECT_FALSE(waiting->ended);
  world.pass(Duration(1));
  EXPECT_TRUE(waiting->ended_with({}));
  EXPECT_EQ(waiting->calls, 1);
  EXPECT_EQ(world.engine().armed(), kNever);
}

TEST_F(LongPolls, TheQueuesOwnWaitHoldsWhereNoneIsGiven) {
  QueueSettings settings;
  settings.receive_wait = seconds(3);
  world.create("patient", settings);
  auto start = world.engine().receive(identity_of("patient"), {}, std::nullopt, [](auto) {});
  EXPECT_FALSE(start.answer.has_value());
  EXPECT_EQ(world.engine().armed(), world.engine().now() + seconds(3));
  auto at_once = world.engine().receive(identity_of("patient"), {}, Duration::zero(), {});
  EXPECT_TRUE(at_once.answer.has_value());
}

TEST_F(LongPolls, WithoutACallbackNothingWaits) {
  auto start = world.engine().receive(identity_of("orders"), {}, seconds(20), {});
  EXPECT_FALSE(start.answer.has_value());
  EXPECT_EQ(start.wait, 0u);
  EXPECT_EQ(world.engine().waiting(), 0u);
}

TEST_F(LongPolls, CancelledTheyAreNeverAnswered) {
  const auto waiting = world.wait("orders", seconds(20));
  EXPECT_TRUE(world.engine().cancel(waiting->id));
  EXPECT_FALSE(world.engine().cancel(waiting->id));
  world.send("orders", "hello");
  world.pass(seconds(30));
  EXPECT_EQ(waiting->calls, 0);
  EXPECT_EQ(world.receive("orders"), Bodies{"hello"});
}

TEST_F(LongPolls, AnsweredTheyCanNoLongerBeCancelled) {
  const auto waiting = world.wait("orders", seconds(20));
  world.send("orders", "hello");
  EXPECT_FALSE(world.engine().cancel(waiting->id));
}

TEST_F(LongPolls, EndWithAnErrorWhenTheirQueueIsDeleted) {
  world.create("other");
  const auto waiting = world.wait("orders", seconds(20));
  const auto elsewhere = world.wait("other", seconds(20));
  world.remove_queue("orders");
  ASSERT_TRUE(waiting->ended && !*waiting->ended);
  EXPECT_EQ(waiting->ended->error().code, ErrorCode::queue_does_not_exist);
  EXPECT_FALSE(elsewhere->ended);
}

TEST_F(LongPolls, OfAQueueThatIsNotThereFailAtOnce) {
  auto start = world.engine().receive(identity_of("nowhere"), {}, seconds(20), [](auto) {});
  ASSERT_TRUE(start.answer && !*start.answer);
  EXPECT_EQ(start.answer->error().code, ErrorCode::queue_does_not_exist);
}

TEST_F(LongPolls, WakeWhenADelayIsOver) {
  world.send("orders", "later", seconds(5));
  const auto waiting = world.wait("orders", seconds(20));
  EXPECT_EQ(world.engine().armed(), world.engine().now() + seconds(5));
  world.pass(seconds(5));
  EXPECT_TRUE(waiting->ended_with({"later"}));
}

TEST_F(LongPolls, WakeWhenATimeoutIsOver) {
  world.send("orders", "again");
  EXPECT_EQ(world.receive("orders", 1, seconds(7)), Bodies{"again"});
  const auto waiting = world.wait("orders", seconds(20));
  world.pass(seconds(7) - Duration(1));
  EXPECT_FALSE(waiting->ended);
  world.pass(Duration(1));
  EXPECT_TRUE(waiting->ended_with({"again"}));
  EXPECT_EQ(world.syncs, 1);  // Nobody else asks for a sync of what a tick recorded.
}

TEST_F(LongPolls, WakeWhenAMessageIsGivenBack) {
  world.send("orders", "again");
  world.receive("orders");
  const std::string handle = world.last_handles.at(0);
  const auto waiting = world.wait("orders", seconds(20));
  const Engine::VisibilityRequest request{handle, seconds(0)};
  ASSERT_TRUE(world.engine().change_visibility(identity_of("orders"), {&request, 1}).has_value());
  EXPECT_TRUE(waiting->ended_with({"again"}));
}

TEST_F(LongPolls, WakeWhenADeleteUnblocksAFifoGroup) {
  world.create("orders.fifo", fifo_settings());
  world.send("orders.fifo", "one");
  world.send("orders.fifo", "two");
  EXPECT_EQ(world.receive("orders.fifo", 1), Bodies{"one"});
  const std::string handle = world.last_handles.at(0);
  const auto waiting = world.wait("orders.fifo", seconds(20));
  const std::string_view view = handle;
  ASSERT_TRUE(world.engine().remove(identity_of("orders.fifo"), {&view, 1}).has_value());
  EXPECT_TRUE(waiting->ended_with({"two"}));
}

TEST_F(LongPolls, WakeWhenTheEndOfRetentionUnblocksAFifoGroup) {
  auto settings = fifo_settings();
  settings.retention = seconds(60);
  world.create("line.fifo", settings);
  world.send("line.fifo", "held");
  ASSERT_EQ(world.receive("line.fifo", 1, seconds(40'000)), Bodies{"held"});
  world.pass(seconds(30));
  world.send("line.fifo", "behind");
  const auto waiting = world.wait("line.fifo", seconds(50));
  world.pass(seconds(29));
  EXPECT_FALSE(waiting->ended);
  world.pass(seconds(1));
  EXPECT_TRUE(waiting->ended_with({"behind"}));
}

TEST_F(LongPolls, WakeOnTheDeadLetterQueueWhenAMessageMovesThere) {
  world.create("dead");
  QueueSettings settings;
  settings.redrive = queue::RedrivePolicy{identity_of("dead").arn(), 1};
  world.create("source", settings);
  world.send("source", "poison");
  EXPECT_EQ(world.receive("source", 1, seconds(0)), Bodies{"poison"});
  const auto waiting = world.wait("dead", seconds(20));
  EXPECT_EQ(world.receive("source"), Bodies{});
  EXPECT_TRUE(waiting->ended_with({"poison"}));
}

TEST_F(LongPolls, AZeroTimeoutServesEveryoneWhoWaits) {
  const auto first = world.wait("orders", seconds(20), 1, seconds(0));
  const auto second = world.wait("orders", seconds(20), 1, seconds(0));
  world.send("orders", "shared");
  EXPECT_TRUE(first->ended_with({"shared"}));
  EXPECT_TRUE(second->ended_with({"shared"}));
}

TEST_F(LongPolls, AShutdownEndsThemAndLetsNoneBegin) {
  const auto waiting = world.wait("orders", seconds(20));
  world.engine().stop_waiting();
  EXPECT_TRUE(waiting->ended_with({}));
  auto start = world.engine().receive(identity_of("orders"), {}, seconds(20), [](auto) {});
  EXPECT_TRUE(start.answer.has_value());
}

// ---- When the next tick is due.

TEST_F(LongPolls, ArmedIsNeverWithoutAnythingToDo) {
  EXPECT_EQ(world.engine().armed(), kNever);
  world.send("orders", "later", seconds(5));  // Nobody waits for it.
  EXPECT_EQ(world.engine().armed(), kNever);
  EXPECT_EQ(world.wakes, 0);
}

TEST_F(LongPolls, AnEarlierDeadlineAsksForAnEarlierTickALaterOneDoesNot) {
  world.wait("orders", seconds(20));
  EXPECT_EQ(world.wakes, 1);
  world.wait("orders", seconds(10));
  EXPECT_EQ(world.wakes, 2);
  world.wait("orders", seconds(15));
  EXPECT_EQ(world.wakes, 2);
  EXPECT_EQ(world.engine().armed(), world.engine().now() + seconds(10));
}

TEST_F(LongPolls, ATickArmsForWhatIsNext) {
  world.wait("orders", seconds(10));
  world.wait("orders", seconds(20));
  world.pass(seconds(10));
  EXPECT_EQ(world.engine().armed(), world.engine().now() + seconds(10));
}

TEST_F(LongPolls, AMessageHiddenWhileSomebodyWaitsArms) {
  world.wait("orders", seconds(20));
  world.send("orders", "later", seconds(4));
  EXPECT_EQ(world.engine().armed(), world.engine().now() + seconds(4));
}

}  // namespace
}  // namespace redrive::engine
