#include <gtest/gtest.h>

#include "dead_letters/triage/features.h"
#include "tests/dead_letters/dead_letter_world.h"

// Receives that isolate retries, and what attempts in company are worth as evidence.

namespace redrive::engine {
namespace {

using queue::Disposition;

struct IsolatedEngine : DeadLetterWorld {
  IsolatedEngine() : DeadLetterWorld(2) {}

  std::vector<Received> receive(const std::string& name, bool isolated = true) {
    auto start = engine().receive(identity_of(name),
                                  {.max = 10,
                                   .visibility = seconds(30),
                                   .consumer = "function:f",
                                   .attempt_id = {},
                                   .isolated = isolated},
                                  Duration::zero(),
                                  {});
    return start.answer && *start.answer ? (*start.answer)->messages : std::vector<Received>();
  }
  void fail(const Received& message, const std::string& type, std::uint16_t company,
            Disposition disposition = Disposition::retry) {
    const auto handle = message.handle.text(state().secret());
    ASSERT_TRUE(engine().report_failure(identity_of("orders"),
                                        {.handle = handle,
                                         .error = {.type = type},
                                         .disposition = disposition,
                                         .company = company}));
  }
};

TEST_F(IsolatedEngine, AReceiveSaysWhatMustRunAloneAndWhatIsTheLast) {
  world.send("orders", "a");
  world.send("orders", "b");
  const auto first = receive("orders");
  ASSERT_EQ(first.size(), 2u);
  for (const Received& message : first) {
    EXPECT_FALSE(message.isolation.alone);
    EXPECT_FALSE(message.isolation.last);
    fail(message, "Shared", 2);
  }
  expect_restart_changes_nothing();
  for (const Received& message : receive("orders")) {
    EXPECT_TRUE(message.isolation.alone);
    EXPECT_TRUE(message.isolation.last);
  }
  EXPECT_FALSE(receive("others").size());
}

TEST_F(IsolatedEngine, APlainReceiveSaysNothing) {
  world.send("orders", "a");
  fail(receive("orders")[0], "Shared", 2);
  EXPECT_FALSE(receive("orders", false)[0].isolation.alone);
}

TEST_F(IsolatedEngine, AMessageReturnedUnusedHasItsReceiveBack) {
  world.send("orders", "a");
  for (int i = 0; i < 5; ++i) {
    const auto received = receive("orders");
    ASSERT_EQ(received.size(), 1u) << i;
    EXPECT_FALSE(received[0].isolation.last);
    const auto handle = received[0].handle.text(state().secret());
    const Engine::VisibilityRequest request{handle, seconds(0), true};
    ASSERT_TRUE(engine().change_visibility(identity_of("orders"), {&request, 1}));
  }
  expect_restart_changes_nothing();
}

// Only the delivery that holds it can be returned unused.
TEST_F(IsolatedEngine, AnOldHandleReturnsNothing) {
  world.send("orders", "a");
  const auto old = receive("orders")[0].handle.text(state().secret());
  world.pass(seconds(31));
  ASSERT_EQ(receive("orders").size(), 1u);
  const Engine::VisibilityRequest request{old, seconds(0), true};
  ASSERT_TRUE(engine().change_visibility(identity_of("orders"), {&request, 1}));
  for (const queue::Attempt& attempt : peek("orders")[0].history->attempts) {
    EXPECT_EQ(attempt.isolation, queue::Isolation::on);
  }
}

TEST_F(IsolatedEngine, GroupsGoByTheErrorOfALoneRun) {
  world.send("orders", "a");
  fail(receive("orders")[0], "Own", 1);
  fail(receive("orders")[0], "Shared", 2, Disposition::dead_letter);
  group();
  EXPECT_EQ(only_group().identity.title, "Own");
}

TEST_F(IsolatedEngine, WithoutALoneRunTheErrorOfTheBatchIsAllThereIs) {
  world.send("orders", "a");
  fail(receive("orders")[0], "Shared", 2, Disposition::dead_letter);
  group();
  EXPECT_EQ(only_group().identity.title, "Shared");
}

TEST_F(IsolatedEngine, WhatSetsThemApartGoesByThoseThatFailedAlone) {
  for (const char* body : {R"({"bad":1})", R"({"good":1})"}) world.send("orders", body);
  const auto received = receive("orders");
  ASSERT_EQ(received.size(), 2u);
  fail(received[0], "Same", 1, Disposition::dead_letter);
  fail(received[1], "Same", 2, Disposition::dead_letter);
  group();
  ASSERT_EQ(only_group().count, 2u);
  const auto dead = dead_letters().groups.features(identity_of("dead"), only_group().key);
  ASSERT_TRUE(dead.has_value());
  EXPECT_EQ(dead->total(), 1u);
}

}  // namespace
}  // namespace redrive::engine
