// However much there is to do, no turn does more than a bounded part of it.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/dead_letters/dead_letter_world.h"

namespace redrive::engine {
namespace {

constexpr int kMany = 4000;
// Far below what the operations of these tests take in all.
constexpr std::uint64_t kBound = 3000;

struct Turns : DeadLetterWorld {
  void send_many(const std::string& name, int count = kMany) {
    std::vector<std::string> tails(10);
    std::vector<queue::Draft> drafts(10);
    for (int sent = 0; sent < count; sent += 10) {
      for (std::size_t i = 0; i < 10; ++i) {
        tails[i].clear();
        store::encode_tail(tails[i], {.body = "m" + std::to_string(sent + static_cast<int>(i))});
        drafts[i] = {.tail = tails[i], .tail_crc = crc32c(tails[i])};
      }
      ASSERT_TRUE(engine().send(identity_of(name), drafts).has_value());
    }
  }
  void receive_all(const std::string& name) {
    while (!world.receive(name, 10, seconds(30)).empty()) {
    }
  }
  // Messages that were delivered as often as allowed, and are visible again.
  void make_spent(int count = kMany) {
    send_many("orders", count);
    receive_all("orders");
    world.clock.advance(seconds(31));
  }
  void make_many_dead(int count = kMany) {
    make_spent(count);
    const auto waiting = short_poll("orders");
    settle();
    ASSERT_TRUE(waiting->ended_with({}));
    ASSERT_EQ(size("dead"), static_cast<std::size_t>(count));
  }

  using Waiting = EngineWorld::Waiting;
  std::shared_ptr<Waiting> short_poll(const std::string& name) {
    auto waiting = std::make_shared<Waiting>();
    const auto done = [this, waiting](Result<ReceiveOutcome> result) {
      ++waiting->calls;
      if (result) {
        waiting->ended = world.bodies_of(*result);
      } else {
        waiting->ended = std::unexpected(result.error());
      }
    };
    auto start = engine().receive(identity_of(name), {.max = 10}, Duration::zero(), done);
    if (start.answer) done(std::move(*start.answer));
    waiting->id = start.wait;
    return waiting;
  }
  // Ticks and maintains until nothing is due.
  void settle() {
    for (int i = 0; i < 10'000; ++i) {
      if (engine().armed() <= engine().now()) {
        engine().tick();
      } else if (!*engine().maintain()) {
        return;
      }
    }
    FAIL() << "there is always more to do";
  }
  void expect_bounded() { EXPECT_LE(engine().take_most_work(), kBound); }
  void start_job(queue::TaskPlan plan = {}) {
    plan.frozen_at = number(state().last_key());
    engine().turn([&](Turn& turn) {
      const std::string arn = identity_of("dead").arn();
      turn.commit(queue::MoveTaskStarted{.task = next(turn.state().last_task()),
                                         .id = turn.ids().uuid(),
                                         .source = queue("dead").key,
                                         .source_arn = arn,
                                         .destination_arn = {},
                                         .rate = 0,
                                         .to_move = turn.state().mailbox(queue("dead")).size(),
                                         .plan = plan});
    });
  }
  const queue::MoveTask& task() { return state().tasks().begin()->second; }
};

TEST_F(Turns, SpentMessagesInFrontAreMovedAsidePortionByPortion) {
  make_spent();
  world.send("orders", "good");
  world.send("others", "another");
  engine().take_most_work();
  const auto waiting = short_poll("orders");
  EXPECT_FALSE(waiting->ended.has_value());
  EXPECT_LT(size("dead"), std::size_t{kMany});
  // Meanwhile the others have their turns.
  EXPECT_EQ(world.receive("others"), Bodies{"another"});
  settle();
  EXPECT_TRUE(waiting->ended_with({"good"}));
  EXPECT_EQ(waiting->calls, 1);
  EXPECT_EQ(size("dead"), std::size_t{kMany});
  expect_bounded();
}

TEST_F(Turns, AShortPollEndsWhenThereIsNothingBehindSpentMessages) {
  make_spent();
  const auto first = short_poll("orders");
  const auto second = short_poll("orders");
  const auto third = world.wait("orders", seconds(20));
  settle();
  EXPECT_TRUE(first->ended_with({}));
  EXPECT_TRUE(second->ended_with({}));
  EXPECT_FALSE(third->ended.has_value());
  EXPECT_EQ(engine().waiting(), 1u);
  world.pass(seconds(20));
  EXPECT_TRUE(third->ended_with({}));
}

TEST_F(Turns, AShortPollThatWaitsForItsTurnEndsWithItsQueue) {
  make_spent();
  const auto waiting = short_poll("orders");
  world.remove_queue("orders");
  settle();
  ASSERT_TRUE(waiting->ended && !*waiting->ended);
  EXPECT_EQ(waiting->ended->error().code, ErrorCode::queue_does_not_exist);
}

TEST_F(Turns, AShortPollThatWaitsForItsTurnCanBeCancelled) {
  make_spent();
  const auto waiting = short_poll("orders");
  EXPECT_TRUE(engine().cancel(waiting->id));
  settle();
  EXPECT_EQ(waiting->calls, 0);
}

TEST_F(Turns, MessagesThatExpireTogetherAreRemovedInSlices) {
  QueueSettings settings;
  settings.retention = seconds(3600);
  world.create("short", settings);
  send_many("short");
  ASSERT_FALSE(world.receive("short", 1, seconds(10'000)).empty());
  const std::string handle = world.last_handles[0];
  world.clock.advance(seconds(3600));
  engine().take_most_work();
  world.send("short", "fresh");
  // What has expired is not there for anybody, removed or not.
  const Engine::VisibilityRequest request{handle, seconds(0)};
  const auto changed = engine().change_visibility(identity_of("short"), {&request, 1});
  EXPECT_FALSE((*changed)[0].has_value());
  const auto waiting = short_poll("short");
  settle();
  EXPECT_TRUE(waiting->ended_with({"fresh"}));
  EXPECT_EQ(size("short"), 1u);
  expect_bounded();
  expect_restart_changes_nothing();
}

TEST_F(Turns, ExpiryGoesOnWhereNobodyLooks) {
  QueueSettings settings;
  settings.retention = seconds(3600);
  world.create("short", settings);
  send_many("short");
  world.clock.advance(seconds(3600));
  engine().take_most_work();
  settle();
  EXPECT_EQ(world.state().mailbox(queue("short")).size(), 0u);
  expect_bounded();
}

TEST_F(Turns, ShorterRetentionTakesEffectInSlices) {
  send_many("orders");
  world.clock.advance(seconds(120));
  engine().take_most_work();
  QueueSettings settings = queue("orders").settings;
  settings.retention = seconds(60);
  world.change("orders", settings);
  EXPECT_GT(world.state().mailbox(queue("orders")).size(), 0u);
  settle();
  EXPECT_EQ(world.state().mailbox(queue("orders")).size(), 0u);
  expect_bounded();
}

TEST_F(Turns, MessagesBecomeVisibleInSlices) {
  send_many("orders");
  receive_all("orders");
  world.clock.advance(seconds(31));
  engine().take_most_work();
  EXPECT_EQ(engine().turn([&](Turn& turn) {
    return turn.state().mailbox(**turn.queue(identity_of("orders"))).visible();
  }),
            1000u);
  expect_bounded();
}

TEST_F(Turns, SettingsOfOneQueueLeaveThePoliciesOfOthersAlone) {
  make_many_dead();
  QueueSettings dead = queue("dead").settings;
  dead.dead_letters = queue::DeadLetterPolicy{.redrive_after = seconds(600)};
  engine().take_most_work();
  world.change("dead", dead);
  expect_bounded();
  settle();
  expect_bounded();
  QueueSettings others = queue("others").settings;
  others.delay = seconds(1);
  world.change("others", others);
  EXPECT_LE(engine().take_most_work(), 10u);
  // Nothing that the policy depends on has changed.
  dead.visibility_timeout = seconds(5);
  world.change("dead", dead);
  EXPECT_LE(engine().take_most_work(), 10u);
  world.pass(seconds(700));
  EXPECT_EQ(size("dead"), 0u);
  EXPECT_EQ(size("orders"), std::size_t{kMany});
  expect_bounded();
}

TEST_F(Turns, APolicyThatGoesTakesItsScheduleWithIt) {
  make_many_dead(1500);
  QueueSettings dead = queue("dead").settings;
  dead.dead_letters = queue::DeadLetterPolicy{.redrive_after = seconds(600)};
  world.change("dead", dead);
  settle();
  dead.dead_letters.reset();
  world.change("dead", dead);
  world.pass(seconds(700));
  EXPECT_EQ(size("dead"), 1500u);
}

TEST_F(Turns, ALetterThatDiedAgainWaitsAnew) {
  QueueSettings dead = queue("dead").settings;
  dead.dead_letters = queue::DeadLetterPolicy{.redrive_after = seconds(600), .backoff_rate = 1};
  world.change("dead", dead);
  make_dead(1);
  world.pass(seconds(400));
  start_job();
  world.pass(seconds(1));
  ASSERT_EQ(size("dead"), 0u);
  fail_all("orders");
  ASSERT_EQ(size("dead"), 1u);
  world.pass(seconds(400));  // What was to happen to it in its former life is no concern any more.
  EXPECT_EQ(size("dead"), 1u);
  world.pass(seconds(250));
  EXPECT_EQ(size("dead"), 0u);
}

TEST_F(Turns, AJobFindsWhatItTakesInSlices) {
  make_many_dead();
  engine().take_most_work();
  start_job();
  world.pass(seconds(10));
  EXPECT_EQ(task().status, queue::TaskStatus::completed);
  EXPECT_EQ(task().counts.moved, std::uint64_t{kMany});
  EXPECT_EQ(size("orders"), std::size_t{kMany});
  expect_bounded();
  EXPECT_EQ(world.receive("orders", 3), (Bodies{"m0", "m1", "m2"}));
}

TEST_F(Turns, ADryRunLooksInSlices) {
  make_many_dead();
  engine().take_most_work();
  const auto chosen =
      dead_letters().jobs.choose(identity_of("dead"), {.filter = "body == 'm3999'"}, 10'000, 9);
  ASSERT_TRUE(chosen.has_value());
  EXPECT_EQ(chosen->candidates, std::size_t{kMany});
  EXPECT_EQ(chosen->scanned, std::size_t{kMany});
  EXPECT_EQ(chosen->matched, 1u);
  EXPECT_TRUE(chosen->complete);
  expect_bounded();
}

TEST_F(Turns, AFilterReadsOutsideTheTurn) {
  make_dead(3);
  world.keep_offloaded = true;
  start_job({.filter = "body != 'm1'"});
  engine().tick();
  ASSERT_EQ(world.offloaded.size(), 1u);
  EXPECT_EQ(size("dead"), 3u);
  engine().tick();
  EXPECT_EQ(world.offloaded.size(), 1u);  // One at a time.
  world.offloaded[0]();
  EXPECT_EQ(size("dead"), 1u);
  EXPECT_EQ(task().status, queue::TaskStatus::completed);
}

TEST_F(Turns, WhatHappensWhileAJobReadsIsHeeded) {
  make_dead(4);
  world.keep_offloaded = true;
  start_job({.filter = "body like 'm*'"});
  engine().tick();
  ASSERT_EQ(world.offloaded.size(), 1u);
  // A consumer takes the first, and an operator edits the third.
  ASSERT_EQ(world.receive("dead", 1, seconds(600)), Bodies{"m0"});
  const Peeked third = peek("dead")[2];
  std::string bytes(third.body.size, ' ');
  ASSERT_TRUE(engine().read_body(third.body, bytes.data()).has_value());
  const auto stored = store::decode_message(bytes);
  store::MessageContents contents = stored->contents;
  contents.body = "another";
  contents.md5_of_body = md5("another");
  const std::string edited = store::encode_message(*stored, contents);
  ASSERT_TRUE(dead_letters()
                  .bin
                  .edit(identity_of("dead"),
                        {.key = third.mark.key, .of = third.body, .stored = edited},
                        {.name = "a", .reason = "r"})
                  .has_value());
  world.offloaded[0]();
  EXPECT_EQ(task().counts.moved, 1u);
  world.pass(seconds(1));
  ASSERT_EQ(world.offloaded.size(), 2u);
  world.offloaded[1]();
  EXPECT_EQ(task().status, queue::TaskStatus::completed);
  EXPECT_EQ(task().counts.moved, 2u);
  EXPECT_EQ(world.receive("orders"), (Bodies{"m1", "m3"}));
}

TEST_F(Turns, AJobThatIsCancelledWhileItReadsMovesNothing) {
  make_dead(2);
  world.keep_offloaded = true;
  start_job({.filter = "body like 'm*'"});
  engine().tick();
  engine().turn([&](Turn& turn) {
    turn.commit(queue::MoveTaskChanged{.task = task().key,
                                       .status = queue::TaskStatus::paused,
                                       .rate = 0,
                                       .stage = 0,
                                       .note = {}});
  });
  ASSERT_EQ(world.offloaded.size(), 1u);
  world.offloaded[0]();
  EXPECT_EQ(size("dead"), 2u);
}

TEST_F(Turns, APurgeSettlesJobsInSlices) {
  make_many_dead();
  start_job();
  world.pass(seconds(10));
  ASSERT_EQ(task().counts.open(), std::uint64_t{kMany});
  engine().take_most_work();
  engine().turn([&](Turn& turn) { turn.commit(queue::QueuePurged{queue("orders").key}); });
  settle();
  EXPECT_EQ(task().counts.gone, std::uint64_t{kMany});
  expect_bounded();
  expect_restart_changes_nothing();
}

TEST_F(Turns, ManyAreDiscardedAndRestoredInPortions) {
  make_many_dead();
  std::vector<queue::MessageKey> all;
  queue::Mailbox::AgeMark after;
  for (bool more = true; more;) {
    const auto page = dead_letters().peek.page(identity_of("dead"), after, 1000);
    for (const Peeked& peeked : page->messages) all.push_back(peeked.mark.key);
    after = page->messages.back().mark;
    more = page->more;
  }
  engine().take_most_work();
  const Actor by{.name = "a", .reason = "r"};
  EXPECT_EQ(*dead_letters().bin.discard(identity_of("dead"), all, by), std::size_t{kMany});
  EXPECT_EQ(*dead_letters().bin.restore(identity_of("dead"), all, by), std::size_t{kMany});
  expect_bounded();
  EXPECT_EQ(size("dead"), std::size_t{kMany});
}

TEST_F(Turns, TheirTimesAreCounted) {
  const auto total = [&] {
    const TurnTimes times = engine().turn_times();
    std::uint64_t sum = 0;
    for (const std::uint64_t count : times.counts()) sum += count;
    return sum;
  };
  const std::uint64_t before = total();
  world.send("orders", "a");
  world.receive("orders");
  EXPECT_EQ(total(), before + 2);
  EXPECT_GT(engine().turn_times().seconds(), 0.0);
}

TEST(TurnTimes, ABucketIsForTwiceTheTimeOfTheOneBefore) {
  TurnTimes times;
  const std::uint64_t begin = TurnTimes::ticks();
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(3);
  while (std::chrono::steady_clock::now() < until) {
  }
  times.add(TurnTimes::ticks() - begin);
  EXPECT_GT(times.seconds(), 0.0029);
  std::size_t bucket = 0;
  while (times.counts()[bucket] == 0) ++bucket;
  EXPECT_GE(bucket, 12u);  // 2.048 ms and more, however long the machine was elsewhere.
}

// A checkpoint of many queues is written in slices, with traffic of all kinds in between, and read
// back as what there is.
TEST(Checkpoints, OfManyQueuesAreWrittenInSlices) {
  EngineWorld world({.checkpoint_bytes_min = 1, .checkpoint_segments = 1'000'000});
  QueueSettings settings;
  settings.redrive = queue::RedrivePolicy{identity_of("zz-dead").arn(), 1};
  world.create("zz-dead");
  world.create("aa-orders", settings);
  for (int i = 0; i < 1200; ++i) world.create("q" + std::to_string(i));
  world.engine().take_most_work();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(world.engine().maintain().has_value());
    const std::string name = "q" + std::to_string(i * 12);
    world.send(name, "a");
    if (i % 2 == 0) world.receive(name);
    if (i % 3 == 0) world.create("new" + std::to_string(i));
    if (i % 5 == 0) world.remove_queue("q" + std::to_string(i * 12 + 1));
    if (i % 7 == 0) world.send("new" + std::to_string(i / 3 * 3), "b");
    // From a queue that is written early to one that is written late, and away.
    world.send("aa-orders", "dies");
    world.receive("aa-orders", 10, Duration::zero());
    world.receive("aa-orders", 10);
    if (!world.receive("zz-dead", 10).empty() && i % 4 != 0) {
      const std::vector<std::string_view> handles(world.last_handles.begin(),
                                                  world.last_handles.end());
      ASSERT_TRUE(world.engine().remove(identity_of("zz-dead"), handles).has_value());
    }
    ASSERT_TRUE(world.journal.sync_once().has_value());
  }
  ASSERT_GT(world.journal.checkpoint(), 0u);
  EXPECT_LE(world.engine().take_most_work(), 3000u);

  const auto describe = [&](store::Store& store) {
    store.state().advance_all(world.engine().now());
    while (store.state().bury(1000)) {
    }
    return store::describe_state(store.state(), store::Order::all_queues);
  };
  store::Store loaded;
  for (const auto& record : world.journal.records()) {
    if (record.sequence < world.journal.checkpoint()) continue;
    ASSERT_TRUE(loaded.replay(record.at, record.payload).has_value());
  }
  EXPECT_EQ(loaded.state().orphans(), 0u);
  EXPECT_EQ(describe(loaded), describe(world.store()));
}

}  // namespace
}  // namespace redrive::engine
