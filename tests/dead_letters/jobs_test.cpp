#include <gtest/gtest.h>

#include "tests/dead_letters/dead_letter_world.h"

// Redrive jobs: what they take, how carefully, and what became of it.

namespace redrive::engine {
namespace {

using queue::TaskStatus;

struct Jobs : DeadLetterWorld {
  // Lets a job run until it does nothing more by itself.
  void run(Duration time = seconds(2)) { world.pass(time); }
  // Moves whatever the job moves, and lets consumers succeed or fail with it at once.
  void run_with_consumer(bool succeeds, int rounds = 40) {
    for (int i = 0; i < rounds; ++i) {
      world.pass(Duration(200));
      succeeds ? succeed_all("orders") : fail_all("orders");
    }
  }
};

TEST_F(Jobs, TakeWhatWasThereAndNothingThatComesLater) {
  make_dead(3, "old");
  start({}, 1);
  run(Duration(100));
  for (int i = 0; i < 4; ++i) world.send("others", "new");
  fail_all("others");
  run(seconds(10));
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(job().counts.moved, 3u);
  EXPECT_EQ(world.receive("orders"), (Bodies{"old0", "old1", "old2"}));
  EXPECT_EQ(size("dead"), 4u);
}

TEST_F(Jobs, LeaveWhatAConsumerHolds) {
  make_dead(3);
  ASSERT_EQ(world.receive("dead", 1, seconds(600)).size(), 1u);
  start({});
  run();
  EXPECT_EQ(job().counts.moved, 2u);
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(size("dead"), 1u);
}

TEST_F(Jobs, LeaveWhatWasRestoredSince) {
  make_dead(2);
  const auto all = keys("dead");
  start({}, 1);
  ASSERT_EQ(dead_letters().bin.discard(identity_of("dead"), std::span(all).last(1), {}).value(),
            1u);
  ASSERT_EQ(dead_letters().bin.restore(identity_of("dead"), std::span(all).last(1), {}).value(),
            1u);
  run(seconds(5));
  EXPECT_EQ(job().counts.moved, 1u);
  EXPECT_EQ(keys("dead"), std::vector(all.begin() + 1, all.end()));
}

// A group of which one message had to be left stays together, whenever that one comes back.
TEST_F(Jobs, DoNotLetAFifoGroupOvertakeItself) {
  QueueSettings settings = fifo_settings();
  world.create("dead.fifo", settings);
  settings.redrive = queue::RedrivePolicy{identity_of("dead.fifo").arn(), 1};
  world.create("line.fifo", settings);
  for (int i = 0; i < 4; ++i) world.send("line.fifo", "m" + std::to_string(i));
  ASSERT_EQ(world.receive("line.fifo", 10, Duration::zero()).size(), 4u);
  ASSERT_TRUE(world.receive("line.fifo", 10).empty());
  ASSERT_EQ(size("dead.fifo"), 4u);
  start({}, 1, "dead.fifo");
  run(Duration(1));
  ASSERT_EQ(job().counts.moved, 1u);
  ASSERT_EQ(world.receive("dead.fifo", 1, Duration(1'500)), Bodies{"m1"});
  run(seconds(10));
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(job().counts.moved, 1u);
  EXPECT_EQ(world.receive("dead.fifo"), (Bodies{"m1", "m2", "m3"}));
}

TEST_F(Jobs, TakeOnlyWhatTheirFilterFits) {
  for (int i = 0; i < 200; ++i) {
    world.send("orders", R"({"store":)" + std::to_string(i % 4) + "}");
  }
  fail_all("orders");
  start({.filter = "body.$.store == 3"});
  run();
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(job().counts.moved, 50u);
  EXPECT_EQ(world.receive("orders", 1), Bodies{R"({"store":3})"});
  EXPECT_EQ(size("dead"), 150u);
}

// Messages are read ahead of the job's rate: one that a consumer received in between is read again.
TEST_F(Jobs, JudgeAgainWhatAConsumerReceivedSinceItWasRead) {
  make_dead(3);
  start({.filter = "received < 2"}, 1);
  run(Duration(1));
  ASSERT_EQ(job().counts.moved, 1u);
  ASSERT_EQ(world.receive("dead", 1, Duration::zero()), Bodies{"m1"});
  run(seconds(10));
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(world.receive("orders"), (Bodies{"m0", "m2"}));
  EXPECT_EQ(world.receive("dead"), Bodies{"m1"});
}

TEST_F(Jobs, WithAFilterThatCannotBeReadTakeNothing) {
  make_dead(3);
  start({.filter = "((("});
  run();
  EXPECT_EQ(job().status, TaskStatus::failed);
  EXPECT_EQ(job().counts.moved, 0u);
}

TEST_F(Jobs, TakeOnlyTheirGroup) {
  make_dead(3, "a", {.type = "A"});
  make_dead(2, "b", {.type = "B"});
  group();
  const auto second = std::next(state().groups().begin())->second;
  start({.group = second.key});
  run();
  EXPECT_EQ(job().counts.moved, 2u);
  EXPECT_EQ(world.receive("orders"), (Bodies{"b0", "b1"}));
  EXPECT_EQ(state().find_group(second.key)->count, 0u);
}

TEST_F(Jobs, TakeNoMoreThanTheirLimit) {
  make_dead(5);
  start({.limit = 2});
  run();
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(world.receive("orders"), (Bodies{"m0", "m1"}));
}

TEST_F(Jobs, PausedStandStillAndResumedGoOnAtTheirNewRate) {
  make_dead(20);
  start({}, 1);
  run(Duration(1'500));
  ASSERT_EQ(job().counts.moved, 2u);
  change_job(TaskStatus::paused, 1);
  run(seconds(10));
  EXPECT_EQ(job().counts.moved, 2u);
  EXPECT_EQ(state().active_task(queue("dead").key), &job());
  world.restart();
  world.engine().tick();
  run(seconds(10));
  EXPECT_EQ(job().counts.moved, 2u);
  change_job(TaskStatus::running, 4);
  run(seconds(1));
  EXPECT_EQ(job().counts.moved, 7u);  // One at once, then four a second.
  change_job(TaskStatus::running, 0);
  run(seconds(2));
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(counts(), "20:0/0/0");
}

TEST_F(Jobs, CancelledLeaveTheRest) {
  make_dead(5);
  start({}, 1);
  run(Duration(1'500));
  commit(queue::MoveTaskEnded{job().key, TaskStatus::cancelled, {}});
  run(seconds(10));
  EXPECT_EQ(job().counts.moved, 2u);
  EXPECT_EQ(job().ended_wall, world.clock.wall() - seconds(10));
  EXPECT_EQ(size("dead"), 3u);
}

// ---- What became of the messages.

TEST_F(Jobs, KnowWhatBecameOfEveryMessage) {
  make_dead(7);
  start({.limit = 6, .stages = {}});
  run();
  ASSERT_EQ(counts(), "6:0/0/0");
  ASSERT_EQ(world.receive("orders", 2, seconds(30)).size(), 2u);
  remove_last("orders");
  EXPECT_EQ(counts(), "6:2/0/0");
  ASSERT_EQ(world.receive("orders", 1, seconds(30)).size(), 1u);
  ASSERT_TRUE(report("orders", world.last_handles[0], {}));
  EXPECT_EQ(counts(), "6:2/1/0");
  const auto left = keys("orders");
  ASSERT_EQ(dead_letters().bin.discard(identity_of("orders"), std::span(left).first(1), {}).value(),
            1u);
  EXPECT_EQ(counts(), "6:2/1/1");
  expect_restart_changes_nothing();
  world.pass(std::chrono::days(5));
  ASSERT_EQ(size("orders"), 0u);
  EXPECT_EQ(counts(), "6:2/1/3");
  EXPECT_EQ(job().counts.open(), 0u);
  expect_restart_changes_nothing();
}

TEST_F(Jobs, KnowWhatWasPurged) {
  make_dead(3);
  start({});
  run();
  commit(queue::QueuePurged{queue("orders").key});
  EXPECT_EQ(counts(), "3:0/0/3");
  expect_restart_changes_nothing();
}

TEST_F(Jobs, KnowWhatWentWithItsQueue) {
  make_dead(3);
  start({});
  run();
  world.remove_queue("orders");
  EXPECT_EQ(counts(), "3:0/0/3");
  expect_restart_changes_nothing();
}

TEST_F(Jobs, DoNotCountForEachOther) {
  make_dead(2);
  start({});
  run();
  fail_all("orders");
  start({});
  run();
  succeed_all("orders");
  ASSERT_EQ(state().tasks().size(), 2u);
  EXPECT_EQ(store::describe_counts(state().tasks().begin()->second.counts), "2:0/2/0");
  EXPECT_EQ(counts(), "2:2/0/0");
}

TEST_F(Jobs, GoOnExactlyAfterARestart) {
  make_dead(30);
  start({.filter = "received >= 1", .limit = 25}, 2);
  for (int i = 0; i < 12; ++i) {
    run(seconds(1));
    if (i % 2 == 0) succeed_all("orders");
    expect_restart_changes_nothing();
    engine().tick();
  }
  run(seconds(20));
  succeed_all("orders");
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(counts(), "25:25/0/0");
  EXPECT_EQ(size("dead"), 5u);
}

// ---- Canaries and breakers.

TEST_F(Jobs, ThatAreCanariesGoOnWhenAllIsWell) {
  make_dead(150);
  start({.stages = {1, 10, 100}, .failure_percent_max = 20, .watch_seconds = 60});
  run(seconds(1));
  EXPECT_EQ(counts(), "1:0/0/0");
  succeed_all("orders");
  run(seconds(1));
  EXPECT_EQ(counts(), "10:1/0/0");
  EXPECT_EQ(job().stage, 1u);
  expect_restart_changes_nothing();
  engine().tick();
  succeed_all("orders");
  run(seconds(1));
  EXPECT_EQ(counts(), "100:10/0/0");
  run_with_consumer(true);
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(counts(), "150:150/0/0");
  EXPECT_EQ(job().stage, 3u);
}

TEST_F(Jobs, ThatAreCanariesHaltWhenTooManyFail) {
  make_dead(50);
  start({.stages = {1, 10}, .failure_percent_max = 20, .watch_seconds = 60});
  run_with_consumer(false, 10);
  EXPECT_EQ(job().status, TaskStatus::halted);
  EXPECT_EQ(counts(), "1:0/1/0");
  EXPECT_EQ(job().failure, "1 of 1 redriven messages failed again");
  expect_restart_changes_nothing();
  // Somebody looks, and lets it go on: what had failed is forgiven.
  change_job(TaskStatus::running);
  EXPECT_EQ(job().forgiven.failed_again, 1u);
  run_with_consumer(true);
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(counts(), "50:49/1/0");
  expect_restart_changes_nothing();
}

TEST_F(Jobs, ThatAreCanariesBearAFewFailures) {
  make_dead(30);
  start({.stages = {10}, .failure_percent_max = 20, .watch_seconds = 60});
  run(seconds(1));
  ASSERT_EQ(world.receive("orders", 2).size(), 2u);
  for (const std::string& handle : std::vector(world.last_handles)) {
    ASSERT_TRUE(report("orders", handle, {}));
  }
  run_with_consumer(true);
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(counts(), "30:28/2/0");
}

TEST_F(Jobs, ThatAreCanariesDoNotWaitForEver) {
  make_dead(30);
  start({.stages = {10}, .failure_percent_max = 50, .watch_seconds = 60});
  run(seconds(59));
  EXPECT_EQ(job().status, TaskStatus::running);
  run(seconds(2));
  EXPECT_EQ(job().status, TaskStatus::halted);
  EXPECT_EQ(job().failure, "after 60 s the outcome of 10 of 10 redriven messages is still unknown");
  change_job(TaskStatus::running);
  run(seconds(59));  // The watch begins anew.
  EXPECT_EQ(job().status, TaskStatus::running);
  // One of the ten fails: not more than half of them, though none was moved since.
  ASSERT_EQ(world.receive("orders", 1).size(), 1u);
  ASSERT_TRUE(report("orders", world.last_handles[0], {}));
  run_with_consumer(true);
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(counts(), "30:29/1/0");
}

// The time of a pause is not watched, however short it was.
TEST_F(Jobs, ThatArePausedStopTheirWatch) {
  make_dead(30);
  start({.stages = {10}, .failure_percent_max = 50, .watch_seconds = 60});
  run(seconds(59));
  change_job(TaskStatus::paused);
  world.clock.advance(seconds(30));
  change_job(TaskStatus::running);
  run(seconds(59));
  EXPECT_EQ(job().status, TaskStatus::running);
  run(seconds(2));
  EXPECT_EQ(job().status, TaskStatus::halted);
}

TEST_F(Jobs, ThatMayFailAltogetherNeverHalt) {
  make_dead(30);
  start({.stages = {5}, .failure_percent_max = 100, .watch_seconds = 60});
  run_with_consumer(false);
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(counts(), "30:0/30/0");
}

TEST_F(Jobs, WithoutStagesStopWhenTheBreakerTrips) {
  make_dead(100);
  start({.failure_percent_max = 10}, 10);
  run_with_consumer(false, 60);
  EXPECT_EQ(job().status, TaskStatus::halted);
  EXPECT_GE(job().counts.failed_again, 20u);
  EXPECT_LE(job().counts.moved, 25u);
  expect_restart_changes_nothing();
  change_job(TaskStatus::running, 0);
  run_with_consumer(true);
  EXPECT_EQ(job().status, TaskStatus::completed);
  EXPECT_EQ(job().counts.moved, 100u);
}

}  // namespace
}  // namespace redrive::engine
