#include <gtest/gtest.h>

#include "dead_letters/triage/rank.h"
#include "tests/dead_letters/dead_letter_world.h"

// What consumers say of failures.

namespace redrive::engine {
namespace {

using queue::AttemptEnd;
using queue::Disposition;
using queue::ErrorText;

struct Failures : DeadLetterWorld {
  Failures() : DeadLetterWorld(3) {}

  std::string receive_one(const std::string& name = "orders") {
    EXPECT_EQ(world.receive(name, 1, seconds(30)).size(), 1u);
    return world.last_handles.empty() ? "" : world.last_handles[0];
  }
  queue::Attempt last_attempt(const std::string& name = "orders") {
    return peek(name).at(0).history.value().attempts.back();
  }
};

TEST_F(Failures, ToldOnlyChangeNothingButTheHistory) {
  world.send("orders", "m");
  const std::string handle = receive_one();
  world.pass(seconds(10));
  ASSERT_TRUE(report("orders", handle, {.type = "T", .message = "M"}, Disposition::none));
  const auto messages = peek("orders");
  EXPECT_EQ(messages[0].phase, queue::Phase::in_flight);
  EXPECT_EQ(messages[0].visible_in, seconds(20));
  EXPECT_EQ(last_attempt().end, AttemptEnd::failed);
  EXPECT_EQ(last_attempt().duration_ms, 10'000u);
  EXPECT_EQ(messages[0].errors, (std::vector<ErrorText>{{.type = "T", .message = "M"}}));
  remove_last("orders");  // It may still succeed.
  EXPECT_EQ(size("orders"), 0u);
  expect_restart_changes_nothing();
}

TEST_F(Failures, CountersStayWithTheMessageUntilItMoves) {
  world.send("orders", "m");
  const queue::RetryCounts counts{.scope = 7, .counts = {1, 0, 2}};
  ASSERT_TRUE(world.engine().report_failure(identity_of("orders"),
                                            {.handle = receive_one(),
                                             .error = {.type = "T", .log = "wrote this"},
                                             .disposition = Disposition::retry,
                                             .retries = counts}));
  expect_restart_changes_nothing();
  EXPECT_EQ(peek("orders")[0].history.value().retries, counts);
  EXPECT_EQ(peek("orders")[0].errors[0].log, "wrote this");
  ASSERT_TRUE(report("orders", receive_one(), {.type = "T"}, Disposition::dead_letter));
  EXPECT_EQ(peek("dead")[0].history.value().retries, queue::RetryCounts{});
}

TEST_F(Failures, OfALongLogTheEndIsKept) {
  world.send("orders", "m");
  ASSERT_TRUE(report("orders",
                     receive_one(),
                     {.type = "T", .log = std::string(10'000, 'x') + "end"},
                     Disposition::none));
  const std::string log = peek("orders")[0].errors[0].log;
  EXPECT_EQ(log.size(), 2'048u);
  EXPECT_TRUE(log.ends_with("end"));
}

TEST_F(Failures, TheLastWordOnADeliveryCounts) {
  world.send("orders", "m");
  const std::string handle = receive_one();
  ASSERT_TRUE(report("orders", handle, {.type = "First"}, Disposition::none));
  ASSERT_TRUE(report("orders", handle, {.type = "Second"}, Disposition::none));
  EXPECT_EQ(peek("orders")[0].errors[0].type, "Second");
  EXPECT_EQ(state().errors().size(), 1u);
}

TEST_F(Failures, EveryAttemptKeepsItsOwnError) {
  world.send("orders", "m");
  for (const char* type : {"First", "Second"}) {
    ASSERT_TRUE(report("orders", receive_one(), {.type = type}, Disposition::retry));
  }
  const auto errors = peek("orders")[0].errors;
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].type, "First");
  EXPECT_EQ(errors[1].type, "Second");
  expect_restart_changes_nothing();
}

TEST_F(Failures, RetriesComeWhenTheConsumerWants) {
  world.send("orders", "m");
  ASSERT_TRUE(report("orders", receive_one(), {}, Disposition::retry, seconds(100)));
  const auto waiting = world.wait("orders", seconds(200));
  world.pass(Duration(99'999));
  EXPECT_FALSE(waiting->ended);
  world.pass(Duration(1));
  EXPECT_TRUE(waiting->ended_with({"m"}));
}

TEST_F(Failures, ARetryAtOnceWakesWhoWaits) {
  world.send("orders", "m");
  const std::string handle = receive_one();
  const auto waiting = world.wait("orders", seconds(20));
  ASSERT_TRUE(report("orders", handle, {}, Disposition::retry));
  EXPECT_TRUE(waiting->ended_with({"m"}));
}

// The twelve hours of a delivery are not prolonged by failing.
TEST_F(Failures, RetriesEndWithTheDelivery) {
  world.send("orders", "m");
  ASSERT_EQ(world.receive("orders", 1, seconds(43'200)).size(), 1u);
  world.pass(std::chrono::hours(11));
  ASSERT_TRUE(
      report("orders", world.last_handles[0], {}, Disposition::retry, std::chrono::hours(12)));
  EXPECT_EQ(peek("orders")[0].visible_in, std::chrono::hours(1));
}

TEST_F(Failures, HopelessMessagesAreDeadAtOnce) {
  world.send("orders", "m");
  const std::string handle = receive_one();
  ASSERT_TRUE(report("orders", handle, {.type = "T"}));
  EXPECT_EQ(size("orders"), 0u);
  const auto dead = peek("dead");
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead[0].dead_letter_source, identity_of("orders").arn());
  EXPECT_EQ(dead[0].history->events[0].why, queue::DeadLetterReason::reported);
  EXPECT_EQ(dead[0].errors[0].type, "T");
  EXPECT_FALSE(report("orders", handle, {}).has_value());
  EXPECT_EQ(world.receive("dead"), Bodies{"m"});
  expect_restart_changes_nothing();
}

TEST_F(Failures, WithoutADeadLetterQueueNothingIsDead) {
  world.create("plain");
  world.send("plain", "m");
  const std::string handle = receive_one("plain");
  const auto before = world.journal.appended();
  EXPECT_EQ(report("plain", handle, {.type = "T"}).error().code,
            ErrorCode::invalid_parameter_value);
  EXPECT_EQ(world.journal.appended(), before);
  EXPECT_EQ(last_attempt("plain").end, AttemptEnd::open);
}

TEST_F(Failures, WhoNoLongerHoldsTheMessageMayOnlyTell) {
  world.send("orders", "m");
  const std::string first = receive_one();
  world.pass(seconds(31));
  EXPECT_FALSE(report("orders", first, {}, Disposition::retry).has_value());
  EXPECT_FALSE(report("orders", first, {}, Disposition::dead_letter).has_value());
  EXPECT_TRUE(report("orders", first, {.type = "Late"}, Disposition::none).has_value());
  EXPECT_EQ(peek("orders")[0].errors[0].type, "Late");
  const std::string second = receive_one();
  EXPECT_FALSE(report("orders", first, {}, Disposition::none).has_value());
  EXPECT_TRUE(report("orders", second, {}, Disposition::none).has_value());
}

TEST_F(Failures, OfAForeignHandleAreRefused) {
  world.send("orders", "m");
  const std::string handle = receive_one();
  EXPECT_EQ(report("others", handle, {}).error().code, ErrorCode::receipt_handle_is_invalid);
  EXPECT_EQ(engine().queue_of_handle(handle)->name, "orders");
  EXPECT_FALSE(engine().queue_of_handle("nonsense").has_value());
}

// When the first of a FIFO group is dead, the next can be received.
TEST_F(Failures, InAFifoQueueLetTheRestOfTheGroupGo) {
  QueueSettings settings = fifo_settings();
  world.create("dead.fifo", settings);
  settings.redrive = queue::RedrivePolicy{identity_of("dead.fifo").arn(), 5};
  world.create("line.fifo", settings);
  world.send("line.fifo", "first");
  world.send("line.fifo", "second");
  const std::string handle = receive_one("line.fifo");
  const auto waiting = world.wait("line.fifo", seconds(20));
  ASSERT_TRUE(report("line.fifo", handle, {.type = "T"}));
  EXPECT_TRUE(waiting->ended_with({"second"}));
  EXPECT_EQ(world.receive("dead.fifo"), Bodies{"first"});
  EXPECT_FALSE(report("line.fifo", handle, {}, Disposition::none).has_value());
}

TEST_F(Failures, LongTextsAreCut) {
  world.send("orders", "m");
  const std::string text(100'000, 'x');
  ASSERT_TRUE(report("orders", receive_one(), {text, text, text, text}, Disposition::none));
  const ErrorText kept = peek("orders")[0].errors[0];
  EXPECT_LE(kept.type.size(), 256u);
  EXPECT_LE(kept.message.size(), 1'024u);
  EXPECT_LE(kept.stack.size(), 4'096u);
  EXPECT_LE(kept.fingerprint.size(), 256u);
  EXPECT_GT(kept.bytes(), 5'000u);
}

TEST_F(Failures, EqualTextsAreKeptOnceAndOnlyWhileTheyAreNeeded) {
  for (const char* type : {"T", ""}) {
    SCOPED_TRACE(type);
    for (int i = 0; i < 3; ++i) world.send("orders", "m");
    ASSERT_EQ(world.receive("orders", 10, seconds(30)).size(), 3u);
    for (const std::string& handle : world.last_handles) {
      ASSERT_TRUE(report("orders", handle, {.type = type}, Disposition::none));
    }
    EXPECT_EQ(state().errors().size(), 1u);
    EXPECT_EQ(state().errors().entries().begin()->second.holds, 3u);
    remove_last("orders");
    EXPECT_EQ(state().errors().size(), 0u);
  }
  expect_restart_changes_nothing();
}

TEST_F(Failures, WhenThereIsNoRoomOnlyTypesAreKept) {
  for (std::uint32_t i = 0; i < 64; ++i) {
    const auto key = static_cast<queue::ErrorKey>(1'000 + i);
    world.state().apply(queue::ErrorLearned{key, {.message = std::string(1u << 20, 'x')}},
                        {.now = engine().now(), .wall = world.clock.wall()});
  }
  ASSERT_TRUE(state().errors().full());
  world.send("orders", "m");
  ASSERT_TRUE(report("orders", receive_one(), {"T", "M", "S", "F"}, Disposition::none));
  EXPECT_EQ(peek("orders")[0].errors[0], ErrorText{.type = "T"});
}

// ---- Which failures belong together.

struct Groups : DeadLetterWorld {
  void mark(queue::GroupStatus status) {
    commit(queue::GroupMarked{only_group().key, status, "note", queue::NameIndex::none});
  }
};

TEST_F(Groups, HaveWhatFailedForTheSameReason) {
  make_dead(3, "a", {.type = "Timeout", .message = "after 31 ms"});
  make_dead(2, "b", {.type = "Timeout", .message = "after 99 ms"});
  group();
  EXPECT_EQ(only_group().count, 5u);
  EXPECT_EQ(only_group().status, queue::GroupStatus::fresh);
  EXPECT_EQ(only_group().arrivals.total, 5u);
  EXPECT_EQ(only_group().arrivals.lately(world.clock.wall()).back(), 5u);
  make_dead(1, "c", {.type = "Other"});
  group();
  EXPECT_EQ(state().groups().size(), 2u);
  EXPECT_EQ(peek("dead").at(0).failure_group.size(), 32u);
  expect_restart_changes_nothing();
}

TEST_F(Groups, ThatWereResolvedRegress) {
  make_dead(1);
  group();
  mark(queue::GroupStatus::resolved);
  EXPECT_EQ(only_group().note, "note");
  make_dead(1);
  group();
  EXPECT_EQ(only_group().status, queue::GroupStatus::regressed);
  mark(queue::GroupStatus::ignored);
  make_dead(1);
  group();
  EXPECT_EQ(only_group().status, queue::GroupStatus::ignored);
  expect_restart_changes_nothing();
}

TEST_F(Groups, CountWhoIsThere) {
  make_dead(6);
  group();
  ASSERT_EQ(world.receive("dead", 2).size(), 2u);
  remove_last("dead");
  EXPECT_EQ(only_group().count, 4u);
  start({.limit = 1});
  world.pass(seconds(1));
  EXPECT_EQ(only_group().count, 3u);
  const auto left = keys("dead");
  ASSERT_EQ(dead_letters().bin.discard(identity_of("dead"), std::span(left).first(1), {}).value(),
            1u);
  EXPECT_EQ(only_group().count, 2u);
  expect_restart_changes_nothing();
  world.pass(std::chrono::days(5));
  ASSERT_EQ(size("dead"), 0u);
  EXPECT_EQ(only_group().count, 0u);
  EXPECT_EQ(only_group().arrivals.total, 6u);
  expect_restart_changes_nothing();
}

TEST_F(Groups, AreEmptyAfterAPurgeAndGoneWithTheirQueue) {
  make_dead(3);
  group();
  commit(queue::QueuePurged{queue("dead").key});
  EXPECT_EQ(only_group().count, 0u);
  expect_restart_changes_nothing();
  world.remove_queue("dead");
  EXPECT_TRUE(state().groups().empty());
  expect_restart_changes_nothing();
}

TEST_F(Groups, KnowWhatFailedAgain) {
  make_dead(2);
  group();
  start({});
  world.pass(seconds(1));
  fail_all("orders");
  group();
  EXPECT_EQ(only_group().count, 2u);
  EXPECT_EQ(only_group().arrivals.total, 4u);
  EXPECT_EQ(only_group().arrivals.failed_again, 2u);
  EXPECT_TRUE(peek("dead").at(0).failed_again);
  expect_restart_changes_nothing();
}

TEST_F(Groups, HaveARestoredMessageOnce) {
  make_dead(1);
  const auto all = keys("dead");
  ASSERT_TRUE(dead_letters().bin.discard(identity_of("dead"), all, {}).has_value());
  ASSERT_TRUE(dead_letters().bin.restore(identity_of("dead"), all, {}).has_value());
  group();
  EXPECT_EQ(only_group().count, 1u);
  EXPECT_EQ(only_group().arrivals.total, 1u);
}

// A message that leaves between being looked at and being grouped belongs to none.
TEST_F(Groups, DoNotHaveWhatHasJustExpired) {
  make_dead(1);
  world.clock.advance(std::chrono::days(5));
  group();
  EXPECT_TRUE(state().groups().empty());
  EXPECT_EQ(state().orphans(), 0u);
}

struct ManyGroups : Groups {
  void fail_as(int reason) {
    make_dead(1, "m", {.type = "T", .fingerprint = "reason " + std::to_string(reason)});
    group();
  }
};

TEST_F(ManyGroups, BeyondAThousandAreOne) {
  for (int i = 0; i < 1'000; ++i) fail_as(i);
  EXPECT_EQ(state().groups_of(queue("dead").key), 1'000u);
  fail_as(1'000);
  fail_as(1'001);
  const queue::FailureGroup* others = state().find_group(queue("dead").key, {});
  ASSERT_NE(others, nullptr);
  EXPECT_EQ(others->count, 2u);
  EXPECT_EQ(state().groups_of(queue("dead").key), 1'001u);
  fail_as(7);  // The known ones are still told apart.
  EXPECT_EQ(others->count, 2u);
  // One that is empty makes room for a new one.
  ASSERT_EQ(world.receive("dead", 1).size(), 1u);
  remove_last("dead");
  fail_as(1'002);
  EXPECT_EQ(others->count, 2u);
  EXPECT_EQ(state().groups_of(queue("dead").key), 1'001u);
  expect_restart_changes_nothing();
}

// ---- What sets the dead apart.

TEST_F(Groups, AreSetApartByWhatTheirMessagesLack) {
  for (int i = 0; i < 60; ++i) {
    world.send("orders", R"({"order":)" + std::to_string(i) + R"(,"store_id":"s1"})");
  }
  succeed_all("orders");
  dead_letters().processed.count();
  for (int i = 0; i < 12; ++i) world.send("orders", R"({"order":)" + std::to_string(i) + "}");
  fail_all("orders");
  group();
  const auto alive = dead_letters().processed.of(identity_of("orders"));
  const auto dead = dead_letters().groups.features(identity_of("dead"), only_group().key);
  ASSERT_TRUE(dead.has_value());
  EXPECT_EQ(alive.total(), 60u);
  EXPECT_EQ(dead->total(), 12u);
  const auto findings = triage::rank(*dead, alive, 3);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, triage::DistinctionKind::key_missing);
  EXPECT_EQ(findings[0].feature, "store_id");
}

// The sample of processed messages, with how they were delivered, survives a restart.
TEST_F(Groups, AreSetApartByTheCodeThatRan) {
  world.consumer = "shop 10.0.0.5 app=shop-1.4";
  for (int i = 0; i < 60; ++i) world.send("orders", "{}");
  succeed_all("orders");
  dead_letters().processed.count();
  world.consumer = "shop 10.0.0.5 app=shop-1.5";
  for (int i = 0; i < 12; ++i) world.send("orders", "{}");
  fail_all("orders");
  group();
  world.restart();
  const auto alive = dead_letters().processed.of(identity_of("orders"));
  const auto dead = dead_letters().groups.features(identity_of("dead"), only_group().key);
  ASSERT_TRUE(dead.has_value());
  const auto findings = triage::rank(*dead, alive, 3);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].sentence,
            "12 of 12 last ran on code version shop-1.5; 0 of 60 processed did");
}

TEST_F(Groups, OfAllDeadLettersSomeOfEveryAgeAreCompared) {
  for (int i = 0; i < 400; ++i) {
    world.send("orders", i < 350 ? R"({"old":1})" : R"({"young":1})");
    world.pass(seconds(1));
  }
  fail_all("orders");
  const auto dead =
      dead_letters().groups.features(identity_of("dead"), queue::FailureGroupKey::none);
  ASSERT_TRUE(dead.has_value());
  EXPECT_EQ(dead->total(), queue::kGroupSamples);
  ASSERT_TRUE(dead->json().find(0, "young", false).has_value());
}

TEST_F(Groups, AreComparedWithWhatWasProcessedBeforeARestart) {
  for (int i = 0; i < 5; ++i) world.send("orders", "{}");
  succeed_all("orders");
  world.pass(seconds(11));
  dead_letters().processed.count();
  world.restart();
  EXPECT_EQ(dead_letters().processed.of(identity_of("orders")).total(), 5u);
  EXPECT_EQ(dead_letters().processed.of(identity_of("nowhere")).total(), 0u);
}

}  // namespace
}  // namespace redrive::engine
