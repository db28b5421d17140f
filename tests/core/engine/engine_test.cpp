#include "core/engine/engine.h"

#include <gtest/gtest.h>

#include "tests/core/engine/engine_world.h"

namespace redrive::engine {
namespace {

using Bodies = EngineWorld::Bodies;
using std::chrono::hours;

// ---- Engine time: it only moves forward, whatever the wall says.

TEST(EngineTime, FollowsTheSteadyClockNotTheWall) {
  EngineWorld world;
  const Timestamp before = world.engine().now();
  world.clock.advance(seconds(10));
  world.clock.jump_wall(hours(-5));
  EXPECT_EQ(world.engine().now(), before + seconds(10));
  world.clock.jump_wall(hours(50));
  EXPECT_EQ(world.engine().now(), before + seconds(10));
}

TEST(EngineTime, AJumpOfTheWallEndsNoTimeout) {
  EngineWorld world;
  world.create("orders");
  world.send("orders", "hello");
  world.receive("orders", 1, seconds(30));
  world.clock.jump_wall(hours(1));
  EXPECT_EQ(world.receive("orders"), Bodies{});
  world.clock.jump_wall(hours(-2));
  world.pass(seconds(30));
  EXPECT_EQ(world.receive("orders"), Bodies{"hello"});
}

TEST(EngineTime, CountsTheTimeTheServerWasAway) {
  EngineWorld world;
  world.create("orders");
  world.send("orders", "hello");
  world.receive("orders", 1, seconds(30));
  const Timestamp before = world.engine().now();
  world.clock.advance(seconds(31));
  world.restart();
  EXPECT_EQ(world.engine().now(), before + seconds(31));
  EXPECT_EQ(world.receive("orders"), Bodies{"hello"});
}

TEST(EngineTime, AWallThatWentBackMeansNoTimeHasPassed) {
  EngineWorld world;
  world.create("orders");
  const Timestamp before = world.engine().now();
  world.clock.jump_wall(hours(-1));
  world.restart();
  EXPECT_EQ(world.engine().now(), before);
}

TEST(EngineTime, NeverFallsOverManyRestartsAndJumps) {
  EngineWorld world;
  SeededIds chance(3);
  Timestamp last = world.engine().now();
  for (int i = 0; i < 50; ++i) {
    world.clock.jump_wall(seconds(static_cast<std::int64_t>(chance.bits() % 7200) - 3600));
    world.clock.advance(seconds(chance.bits() % 100));
    world.create("q" + std::to_string(i));  // Something that is recorded.
    if (i % 3 == 0) world.restart();
    EXPECT_GE(world.engine().now(), last);
    last = world.engine().now();
  }
}

TEST(EngineTime, ANewJournalBeginsAtTheWall) {
  EngineWorld world;
  EXPECT_EQ(world.engine().now(), world.clock.wall());
}

// ---- A restart keeps what was recorded.

TEST(EngineRestart, KeepsTheSecretSoThatHandlesStayGood) {
  EngineWorld world;
  world.create("orders");
  world.send("orders", "hello");
  world.receive("orders");
  const std::string handle = world.last_handles.at(0);
  world.restart();
  const std::string_view view = handle;
  const auto removed = world.engine().remove(identity_of("orders"), {&view, 1});
  ASSERT_TRUE(removed.has_value());
  EXPECT_TRUE((*removed)[0].has_value());
  EXPECT_EQ(world.state().messages().size(), 0u);
}

TEST(EngineRestart, KeepsMessagesAndTheirBytes) {
  EngineWorld world;
  world.create("orders");
  for (const char* body : {"one", "two", "three"}) world.send("orders", body);
  world.restart();
  EXPECT_EQ(world.receive("orders"), (Bodies{"one", "two", "three"}));
}

// ---- A full disk refuses what grows the journal for long, and nothing else.

TEST(FullDisk, RefusesSendsOnly) {
  EngineWorld world;
  world.create("orders");
  world.send("orders", "one");
  world.send("orders", "two");
  world.journal.set_room(false);
  const auto refused = world.try_send("orders", "three");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::service_unavailable);

  EXPECT_EQ(world.receive("orders", 1), Bodies{"one"});
  const std::string handle = world.last_handles.at(0);
  const Engine::VisibilityRequest later{handle, seconds(60)};
  EXPECT_TRUE(world.engine().change_visibility(identity_of("orders"), {&later, 1}).has_value());
  const std::string_view view = handle;
  EXPECT_TRUE(world.engine().remove(identity_of("orders"), {&view, 1}).has_value());
  world.remove_queue("orders");

  world.journal.set_room(true);
  world.create("orders");
  EXPECT_TRUE(world.try_send("orders", "four").has_value());
}

// ---- Single operations.

TEST(Engine, AnswersWaitForTheirOwnRecord) {
  EngineWorld world;
  world.create("orders");
  const auto sent = world.try_send("orders", "hello");
  ASSERT_TRUE(sent.has_value());
  EXPECT_EQ(sent->after, world.journal.appended());
  auto start = world.engine().receive(identity_of("orders"), {}, Duration::zero(), {});
  EXPECT_EQ((*start.answer)->after, world.journal.appended());
  EXPECT_EQ((*start.answer)->after, sent->after + 1);
}

// That there is nothing to receive may follow from a record that is not durable yet.
TEST(Engine, AnswersWithoutAMessageWaitForWhatWasRecordedBefore) {
  EngineWorld world;
  world.create("orders");
  auto start = world.engine().receive(identity_of("orders"), {}, Duration::zero(), {});
  ASSERT_TRUE((*start.answer)->messages.empty());
  EXPECT_EQ((*start.answer)->after, world.journal.appended());

  std::vector<Sequence> marks;
  const auto done = [&](Result<ReceiveOutcome> outcome) { marks.push_back(outcome->after); };
  for (int i = 0; i < 2; ++i) {
    const auto wait = world.engine().receive(identity_of("orders"), {}, seconds(10 + 10 * i), done);
    ASSERT_FALSE(wait.answer.has_value());
  }
  world.send("orders", "gone", seconds(60));
  world.pass(seconds(10));
  EXPECT_EQ(marks, std::vector{world.journal.appended()});
  world.create("others");
  world.engine().stop_waiting();
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_EQ(marks[1], world.journal.appended());
}

TEST(Engine, AReceiveOfNothingRecordsNothing) {
  EngineWorld world;
  world.create("orders");
  const Sequence before = world.journal.appended();
  EXPECT_EQ(world.receive("orders"), Bodies{});
  EXPECT_EQ(world.journal.appended(), before);
}

TEST(Engine, DeletesEachOfABatchOnItsOwn) {
  EngineWorld world;
  world.create("orders");
  world.send("orders", "hello");
  world.receive("orders");
  const std::string handle = world.last_handles.at(0);
  const std::string_view handles[] = {handle, "garbage", handle};
  const auto results = world.engine().remove(identity_of("orders"), handles);
  ASSERT_TRUE(results.has_value());
  EXPECT_TRUE((*results)[0].has_value());
  EXPECT_EQ((*results)[1].error().code, ErrorCode::receipt_handle_is_invalid);
  EXPECT_TRUE((*results)[2].has_value());
}

TEST(Engine, OperationsOnAQueueThatIsNotThereFail) {
  EngineWorld world;
  const QueueIdentity nowhere = identity_of("nowhere");
  EXPECT_EQ(world.try_send("nowhere", "x").error().code, ErrorCode::queue_does_not_exist);
  EXPECT_EQ(world.engine().remove(nowhere, {}).error().code, ErrorCode::queue_does_not_exist);
  EXPECT_EQ(world.engine().change_visibility(nowhere, {}).error().code,
            ErrorCode::queue_does_not_exist);
}

// Every message in a group of its own, so that a FIFO queue gives them all.
void fill(EngineWorld& world, const char* name, std::size_t count) {
  std::string tail;
  store::encode_tail(tail, {.body = "x"});
  std::vector<std::string> groups(1'000);
  std::vector<queue::Draft> drafts(groups.size());
  for (std::size_t i = 0; i < count; i += drafts.size()) {
    for (std::size_t j = 0; j < drafts.size(); ++j) {
      groups[j] = std::to_string(i + j);
      drafts[j] = {.group = groups[j],
                   .dedup = groups[j],
                   .tail = tail,
                   .tail_crc = crc32c(tail),
                   .delay = {}};
    }
    ASSERT_TRUE(world.engine().send(identity_of(name), drafts).has_value());
  }
}

TEST(Engine, AFullQueueRefusesAShortPollAndLetsALongOneWait) {
  EngineWorld world;
  world.create("orders");
  world.create("orders.fifo", fifo_settings());
  for (const char* name : {"orders", "orders.fifo"}) {
    fill(world, name, queue::kInFlightMax + 1'000);
    for (std::size_t i = 0; i < queue::kInFlightMax; i += 10) {
      auto start = world.engine().receive(
          identity_of(name), {.max = 10, .visibility = seconds(600)}, Duration::zero(), {});
      ASSERT_EQ((*start.answer)->messages.size(), 10u);
    }
  }
  auto standard = world.engine().receive(identity_of("orders"), {}, Duration::zero(), {});
  EXPECT_EQ(standard.answer->error().code, ErrorCode::over_limit);
  auto fifo = world.engine().receive(identity_of("orders.fifo"), {}, Duration::zero(), {});
  ASSERT_TRUE(fifo.answer->has_value());
  EXPECT_TRUE((*fifo.answer)->messages.empty());
  const auto waiting = world.wait("orders", seconds(5));
  world.pass(seconds(5));
  EXPECT_TRUE(waiting->ended_with({}));
}

TEST(Engine, PinsBodiesUntilTheOutcomeIsGone) {
  EngineWorld world;
  world.create("orders");
  world.send("orders", "one");
  world.send("orders", "two");
  {
    auto start = world.engine().receive(identity_of("orders"), {.max = 10}, Duration::zero(), {});
    EXPECT_EQ(world.journal.pins(), 1);  // Both lie in one segment.
    const ReceiveOutcome moved = std::move(**start.answer);
    EXPECT_EQ(world.journal.pins(), 1);
  }
  EXPECT_EQ(world.journal.pins(), 0);
}

// ---- Background work.

TEST(EngineMaintenance, RetentionEndsWhereNobodyLooks) {
  EngineWorld world;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "q" + std::to_string(i);
    world.create(name);
    world.send(name, "old");
  }
  world.pass(seconds(345'600));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(world.engine().maintain().has_value());
    world.pass(seconds(2));
  }
  EXPECT_EQ(world.state().messages().size(), 0u);
}

TEST(EngineMaintenance, WritesACheckpointAndAsksForItsSync) {
  EngineWorld world({.checkpoint_bytes_min = 2'000});
  world.create("orders");
  for (int i = 0; i < 50; ++i) world.send("orders", "hello");
  const int before = world.syncs;
  for (int i = 0; i < 100 && world.journal.checkpoint() == 0; ++i) {
    ASSERT_TRUE(world.engine().maintain().has_value());
    ASSERT_TRUE(world.journal.sync_once().has_value());
  }
  EXPECT_NE(world.journal.checkpoint(), 0u);
  EXPECT_GT(world.syncs, before);
}

TEST(EngineExchange, TakesAndSendsInOneRecordOrNotAtAll) {
  EngineWorld world;
  world.create("orders");
  world.create("results");
  world.send("orders", "a");
  world.send("orders", "b");
  world.receive("orders", 2);
  const std::vector<std::string_view> handles(world.last_handles.begin(), world.last_handles.end());
  std::string tail;
  store::encode_tail(tail, {.body = "both done"});
  const queue::Draft draft{.tail = tail, .tail_crc = crc32c(tail)};
  const auto exchange = [&] {
    return world.engine().exchange(
        identity_of("orders"), handles, identity_of("results"), std::span(&draft, 1));
  };
  const auto before = world.journal.appended();
  ASSERT_TRUE(exchange().has_value());
  EXPECT_EQ(world.journal.appended(), before + 1);
  EXPECT_FALSE(exchange().has_value());  // What is gone cannot be taken again.
  EXPECT_EQ(world.receive("results"), Bodies{"both done"});
  EXPECT_EQ(world.receive("results"), Bodies{});
  world.pass(hours(1));
  EXPECT_EQ(world.receive("orders"), Bodies{});
}

TEST(EngineMaintenance, BuriesWhatWasPurged) {
  EngineWorld world;
  world.create("orders");
  for (int i = 0; i < 3'000; ++i) world.send("orders", "x");
  world.engine().turn([](Turn& turn) {
    turn.commit(queue::QueuePurged{turn.state().find(identity_of("orders"))->key});
  });
  int slices = 0;
  for (bool more = true; more; ++slices) {
    const auto result = world.engine().maintain();
    ASSERT_TRUE(result.has_value());
    more = *result;
  }
  EXPECT_GT(slices, 1);
  EXPECT_EQ(world.state().messages().size(), 0u);
}

}  // namespace
}  // namespace redrive::engine
