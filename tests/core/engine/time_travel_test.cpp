#include "core/engine/time_travel.h"

#include <gtest/gtest.h>

#include "tests/core/engine/engine_world.h"

// Time that stands still, and what happens when it is moved.

namespace redrive::engine {
namespace {

using std::chrono::days;
using std::chrono::minutes;
using Bodies = std::vector<std::string>;

struct TimeTravelTest : testing::Test {
  WorldOf<VirtualClock> world;
  TimeTravel time{world.engine(), world.clock};

  TimeTravelTest() { world.create("orders"); }

  std::size_t messages() { return world.state().messages().size(); }
};

TEST_F(TimeTravelTest, MovesBothTimesByExactlyWhatItWasTold) {
  const Timestamp now = world.engine().now();
  const Timestamp wall = world.clock.wall();
  time.advance(Duration(1'234));
  EXPECT_EQ(world.engine().now(), now + Duration(1'234));
  EXPECT_EQ(world.clock.wall(), wall + Duration(1'234));
}

TEST_F(TimeTravelTest, AWaitEndsWhenTimeReachesItsDeadlineAndNotBefore) {
  const auto waiting = world.wait("orders", seconds(20));
  time.advance(Duration(19'999));
  EXPECT_EQ(waiting->calls, 0);
  time.advance(Duration(1));
  EXPECT_TRUE(waiting->ended_with({}));
}

TEST_F(TimeTravelTest, AWaitingReceiveGetsWhatBecomesVisibleOnTheWay) {
  world.send("orders", "later", seconds(15));
  const auto waiting = world.wait("orders", seconds(20));
  time.advance(days(1));
  EXPECT_TRUE(waiting->ended_with({"later"}));
}

// One step of a day would find both the message and the deadline due, and could answer either way.
TEST_F(TimeTravelTest, ThingsHappenInTheirOrder) {
  world.send("orders", "too late", seconds(30));
  const auto impatient = world.wait("orders", seconds(20));
  const auto patient = world.wait("orders", seconds(40));
  time.advance(days(1));
  EXPECT_TRUE(impatient->ended_with({}));
  EXPECT_TRUE(patient->ended_with({"too late"}));
}

// Received at the fifteenth second, not at the end of the journey: visible again thirty later.
TEST_F(TimeTravelTest, WhatHappensOnTheWayHasTheTimeAtWhichItHappened) {
  world.send("orders", "m", seconds(15));
  const auto first = world.wait("orders", seconds(20), 10, seconds(30));
  time.advance(seconds(44));
  ASSERT_TRUE(first->ended_with({"m"}));
  EXPECT_EQ(world.receive("orders"), Bodies{});
  time.advance(seconds(1));
  EXPECT_EQ(world.receive("orders"), Bodies{"m"});
}

TEST_F(TimeTravelTest, RetentionEndsAlsoWhereNobodyLooks) {
  world.send("orders", "old");
  time.advance(days(4) - Duration(1));
  EXPECT_EQ(messages(), 1u);
  time.advance(Duration(1));
  EXPECT_EQ(messages(), 0u);
}

TEST_F(TimeTravelTest, TheJournalKnowsHowFarItWent) {
  time.advance(days(400));
  store::Store next_life;
  for (const auto& record : world.journal.records()) {
    ASSERT_TRUE(next_life.replay(record.at, record.payload));
  }
  EXPECT_EQ(next_life.last_stamp().now, world.engine().now());
  EXPECT_EQ(next_life.last_stamp().wall, world.clock.wall());
}

TEST_F(TimeTravelTest, MoveTasksKeepTheirRate) {
  world.create("target");
  for (int i = 0; i < 30; ++i) world.send("orders", std::to_string(i));
  world.engine().turn([&](Turn& turn) {
    const std::string source = identity_of("orders").arn();
    const std::string target = identity_of("target").arn();
    turn.commit(queue::MoveTaskStarted{.task = next(turn.state().last_task()),
                                       .id = turn.ids().uuid(),
                                       .source = turn.state().find(identity_of("orders"))->key,
                                       .source_arn = source,
                                       .destination_arn = target,
                                       .rate = 2,
                                       .to_move = 30});
  });
  const auto moved = [&] { return world.state().tasks().begin()->second.counts.moved; };
  time.advance(seconds(5));
  EXPECT_EQ(moved(), 11u);  // One at once, then two a second.
  time.advance(minutes(1));
  EXPECT_EQ(moved(), 30u);
  EXPECT_EQ(world.state().tasks().begin()->second.status, queue::TaskStatus::completed);
}

TEST_F(TimeTravelTest, AResetForgetsAllAndTellsWhoeverWaits) {
  world.create("others");
  world.send("others", "m");
  const auto waiting = world.wait("orders", seconds(20));
  EXPECT_EQ(world.engine().reset(), 2u);
  ASSERT_TRUE(waiting->ended && !*waiting->ended);
  EXPECT_EQ(waiting->ended->error().code, ErrorCode::queue_does_not_exist);
  EXPECT_TRUE(world.state().queues().empty());
  EXPECT_EQ(world.engine().waiting(), 0u);
  world.restart();
  EXPECT_TRUE(world.state().queues().empty());
  EXPECT_EQ(messages(), 0u);
}

}  // namespace
}  // namespace redrive::engine
