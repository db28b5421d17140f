#include <gtest/gtest.h>

#include "tests/core/engine/engine_world.h"

// Move tasks: dead letters on their way back.

namespace redrive::engine {
namespace {

using Bodies = EngineWorld::Bodies;
using queue::TaskStatus;

struct MoveTasks : testing::Test {
  EngineWorld world;

  MoveTasks() {
    world.create("dead");
    QueueSettings settings;
    settings.redrive = queue::RedrivePolicy{identity_of("dead").arn(), 1};
    world.create("orders", settings);
    world.create("others", settings);
  }

  void make_dead_letters(const std::string& source, int count) {
    for (int i = 0; i < count; ++i) world.send(source, source + std::to_string(i));
    for (int i = 0; i < count; i += 10) world.receive(source, 10, Duration::zero());
    while (visible(source) > 0) world.receive(source, 10, Duration::zero());
  }
  std::size_t visible(const std::string& name) {
    return world.engine().turn([&](Turn& turn) {
      return turn.state().mailbox(**turn.queue(identity_of(name))).visible();
    });
  }
  void start(const std::string& destination = {}, std::uint32_t rate = 0) {
    world.engine().turn([&](Turn& turn) {
      const queue::Queue& source = **turn.queue(identity_of("dead"));
      const std::string source_arn = identity_of("dead").arn();
      const std::string to = destination.empty() ? "" : identity_of(destination).arn();
      turn.commit(queue::MoveTaskStarted{.task = next(turn.state().last_task()),
                                         .id = turn.ids().uuid(),
                                         .source = source.key,
                                         .source_arn = source_arn,
                                         .destination_arn = to,
                                         .rate = rate,
                                         .to_move = turn.state().mailbox(source).visible()});
    });
  }
  const queue::MoveTask& task() { return world.state().tasks().rbegin()->second; }
};

TEST_F(MoveTasks, BringEveryMessageBackToItsOwnSource) {
  make_dead_letters("orders", 3);
  make_dead_letters("others", 2);
  start();
  EXPECT_LE(world.engine().armed(), world.engine().now());
  world.pass(seconds(1));
  EXPECT_EQ(task().status, TaskStatus::completed);
  EXPECT_EQ(task().counts.moved, 5u);
  EXPECT_EQ(world.receive("orders"), (Bodies{"orders0", "orders1", "orders2"}));
  EXPECT_EQ(world.receive("others"), (Bodies{"others0", "others1"}));
  EXPECT_EQ(world.engine().armed(), kNever);
}

TEST_F(MoveTasks, BringAllToTheDestinationIfOneIsGiven) {
  make_dead_letters("orders", 1);
  make_dead_letters("others", 1);
  world.create("third");
  start("third");
  world.pass(seconds(1));
  EXPECT_EQ(world.receive("third"), (Bodies{"orders0", "others0"}));
}

TEST_F(MoveTasks, WakeWhoWaitsForTheMessages) {
  make_dead_letters("orders", 1);
  const auto waiting = world.wait("orders", seconds(20));
  start();
  world.pass(seconds(1));
  EXPECT_TRUE(waiting->ended_with({"orders0"}));
}

TEST_F(MoveTasks, OfAThousandMessagesTakeSeveralTurns) {
  make_dead_letters("orders", 1'000);
  start();
  world.engine().tick();
  EXPECT_EQ(task().status, TaskStatus::running);
  EXPECT_GT(task().counts.moved, 0u);
  EXPECT_LT(task().counts.moved, 1'000u);
  world.pass(seconds(1));
  EXPECT_EQ(task().status, TaskStatus::completed);
  EXPECT_EQ(visible("orders"), 1'000u);
}

// With n a second, so many messages take at least so many seconds, and no more than needed.
TEST_F(MoveTasks, KeepTheirRate) {
  for (const std::uint32_t rate : {1u, 3u, 50u, 500u}) {
    SCOPED_TRACE(rate);
    const int count = static_cast<int>(rate) * 3 + 1;
    make_dead_letters("orders", count);
    start("others", rate);
    const Timestamp begun = world.engine().now();
    while (task().status == TaskStatus::running) {
      world.pass(Duration(1));
      const auto elapsed = static_cast<std::uint64_t>((world.engine().now() - begun).count());
      ASSERT_LE(task().counts.moved, 1 + elapsed * rate / 1000);
      ASSERT_LT(elapsed, 10'000u);
    }
    const auto took = world.engine().now() - begun;
    EXPECT_GE(took, seconds(3));
    EXPECT_LE(took, seconds(3) + Duration(2));
    EXPECT_EQ(task().counts.moved, static_cast<std::uint64_t>(count));
    while (!world.receive("others", 10).empty()) {
    }
  }
}

TEST_F(MoveTasks, DoNotMakeUpForATimeWithoutTicks) {
  make_dead_letters("orders", 100);
  start("others", 5);
  world.engine().tick();
  EXPECT_EQ(task().counts.moved, 1u);
  world.clock.advance(seconds(10));
  world.engine().tick();
  EXPECT_LE(task().counts.moved, 1u + 5u);
}

TEST_F(MoveTasks, MoveOnlyWhatIsVisibleAtTheirTime) {
  make_dead_letters("orders", 3);
  EXPECT_EQ(world.receive("dead", 1, seconds(600)).size(), 1u);
  start();
  world.pass(seconds(1));
  EXPECT_EQ(task().status, TaskStatus::completed);
  EXPECT_EQ(task().counts.moved, 2u);
}

TEST_F(MoveTasks, MoveNoMoreThanWasThereWhenTheyStarted) {
  make_dead_letters("orders", 2);
  start("others", 1);
  make_dead_letters("orders", 5);
  world.pass(seconds(10));
  EXPECT_EQ(task().status, TaskStatus::completed);
  EXPECT_EQ(task().counts.moved, 2u);
  EXPECT_EQ(visible("dead"), 5u);
}

TEST_F(MoveTasks, OfAnEmptyQueueAreDoneAtOnce) {
  start("others");
  world.pass(seconds(1));
  EXPECT_EQ(task().status, TaskStatus::completed);
}

TEST_F(MoveTasks, CancelledTheyMoveNothingMore) {
  make_dead_letters("orders", 10);
  start("others", 1);
  world.pass(seconds(2));
  const std::uint64_t moved = task().counts.moved;
  EXPECT_EQ(moved, 3u);
  world.engine().turn([&](Turn& turn) {
    turn.commit(queue::MoveTaskEnded{task().key, TaskStatus::cancelled, {}});
  });
  world.pass(seconds(10));
  EXPECT_EQ(task().counts.moved, moved);
  EXPECT_EQ(task().status, TaskStatus::cancelled);
  EXPECT_EQ(visible("dead"), 7u);
  EXPECT_EQ(world.engine().armed(), kNever);
}

TEST_F(MoveTasks, FailWhenTheDestinationIsDeleted) {
  make_dead_letters("orders", 10);
  start("others", 1);
  world.pass(seconds(2));
  world.remove_queue("others");
  world.pass(seconds(2));
  EXPECT_EQ(task().status, TaskStatus::failed);
  EXPECT_EQ(task().failure, "AWS.SimpleQueueService.NonExistentQueue");
  EXPECT_EQ(visible("dead"), 7u);
}

TEST_F(MoveTasks, FailOnAMessageThatWasSentToTheDeadLetterQueueDirectly) {
  make_dead_letters("orders", 2);
  world.send("dead", "stray");
  start();
  world.pass(seconds(1));
  EXPECT_EQ(task().status, TaskStatus::failed);
  EXPECT_EQ(task().failure, "CouldNotDetermineMessageSource");
  EXPECT_EQ(task().counts.moved, 2u);  // What stood before it has gone.
  EXPECT_EQ(world.receive("dead"), Bodies{"stray"});
}

TEST_F(MoveTasks, EndWithTheirSource) {
  make_dead_letters("orders", 5);
  start("others", 1);
  world.remove_queue("dead");
  world.pass(seconds(10));
  EXPECT_TRUE(world.state().tasks().empty());
  EXPECT_EQ(world.engine().armed(), kNever);
}

TEST_F(MoveTasks, GoOnAfterARestart) {
  make_dead_letters("orders", 5);
  start("others", 1);
  world.pass(seconds(1));
  ASSERT_EQ(task().counts.moved, 2u);
  world.restart();
  EXPECT_EQ(task().status, TaskStatus::running);
  world.engine().tick();  // As a server does when it starts.
  world.pass(seconds(4));
  EXPECT_EQ(task().status, TaskStatus::completed);
  EXPECT_EQ(task().counts.moved, 5u);
}

}  // namespace
}  // namespace redrive::engine
