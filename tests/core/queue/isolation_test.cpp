#include "core/queue/isolation.h"

#include <gtest/gtest.h>

#include "tests/core/queue/world.h"

namespace redrive::queue {
namespace {

// One letter for each attempt: p and P of a plain consumer (failed, expired), the others of one
// that isolates retries: a failed alone, i reported by item, b failed in a batch, x expired, o
// open, r returned by the handler, n never run.
std::vector<Attempt> attempts_of(std::string_view letters) {
  std::vector<Attempt> attempts;
  for (const char letter : letters) {
    Attempt attempt{.end = AttemptEnd::failed, .isolation = Isolation::on};
    if (letter == 'p' || letter == 'P') attempt.isolation = Isolation::off;
    if (letter == 'P' || letter == 'x') attempt.end = AttemptEnd::visibility_expired;
    if (letter == 'a') attempt.company = 1;
    if (letter == 'b') attempt.company = 10;
    if (letter == 'o') attempt.end = AttemptEnd::open;
    if (letter == 'r' || letter == 'n') attempt.end = AttemptEnd::released;
    if (letter == 'n') attempt.isolation = Isolation::not_run;
    attempts.push_back(attempt);
  }
  return attempts;
}

TEST(Isolation, WhatIsSpent) {
  struct Row {
    std::string_view attempts;
    std::uint32_t receives_max;
    bool spent;
  };
  static constexpr Row kRows[] = {
      // Plain consumers: as on AWS, however it ended.
      {"", 1, false},
      {"p", 2, false},
      {"pp", 2, true},
      {"PP", 2, true},
      {"bP", 2, true},
      // Judged alone: the same.
      {"a", 2, false},
      {"a", 1, true},
      {"ba", 2, true},
      {"i", 1, true},
      {"bi", 2, true},
      // Not judged at the last receive: one more.
      {"b", 1, false},
      {"bb", 2, false},
      {"bba", 2, true},
      {"pb", 2, false},
      {"bx", 2, false},
      {"bo", 2, false},
      {"ax", 2, false},
      {"axa", 2, true},
      {"xa", 2, true},
      // What never ran does not count.
      {"n", 1, false},
      {"nnnnn", 2, false},
      {"ann", 2, false},
      {"anna", 2, true},
      {"nnp", 2, true},  // AWS counts all of them.
      // A message that takes the server down does not come back for ever.
      {"xxxxxxxxx", 2, false},
      {"xxxxxxxxxx", 2, true},
      {"xxxxxnnnxxxxx", 2, true},
      {"rrrrrrrrrr", 2, true},
      {"xxxxxxxxxx", 20, false},
  };
  for (const Row& row : kRows) {
    const auto attempts = attempts_of(row.attempts);
    EXPECT_EQ(is_spent(attempts, static_cast<std::uint32_t>(attempts.size()), row.receives_max),
              row.spent)
        << row.attempts << " of " << row.receives_max;
  }
}

// Of a message that was returned a hundred times only the last attempts are kept.
TEST(Isolation, AttemptsThatAreNotKeptDoNotKill) {
  EXPECT_FALSE(is_spent(attempts_of("nnnnnnnnnnnnnnnnnnnn"), 100, 3));
}

TEST(Isolation, WhatMustRunAlone) {
  struct Row {
    std::string_view before;
    bool alone;
  };
  static constexpr Row kRows[] = {{"", false},
                                  {"p", false},
                                  {"P", false},
                                  {"b", true},
                                  {"a", true},
                                  {"i", false},
                                  {"x", true},
                                  {"o", true},
                                  {"r", true},
                                  {"bn", true},
                                  {"nn", false},
                                  {"bP", false},
                                  {"bi", false}};
  for (const Row& row : kRows) {
    EXPECT_EQ(must_run_alone(attempts_of(row.before)), row.alone) << row.before;
  }
}

TEST(Isolation, TheErrorOfALoneRunTellsMore) {
  const auto telling = [](std::string_view letters, std::uint32_t life) {
    History history;
    for (const Attempt& attempt : attempts_of(letters)) history.add(attempt);
    return telling_attempt(history, life, [&](std::size_t at) {
      return history.attempts[at].end == AttemptEnd::failed;
    });
  };
  EXPECT_EQ(telling("", 0), std::nullopt);
  EXPECT_EQ(telling("xx", 2), std::nullopt);
  EXPECT_EQ(telling("bb", 2), 1u);
  EXPECT_EQ(telling("ba", 2), 1u);
  EXPECT_EQ(telling("ab", 2), 0u);
  EXPECT_EQ(telling("iab", 3), 1u);
  EXPECT_EQ(telling("ab", 1), 1u);  // The first is of the life before.
  EXPECT_EQ(telling("ax", 1), 0u);
}

TEST(Isolation, RecentAttemptsHaveNoGap) {
  History history;
  for (std::uint32_t i = 0; i < 30; ++i) history.add({.duration_ms = i});
  const auto recent = history.recent(29);
  ASSERT_EQ(recent.size(), kAttemptsLast);
  EXPECT_EQ(recent.front().duration_ms, 10u);
  EXPECT_EQ(history.recent(2).front().duration_ms, 28u);
  EXPECT_TRUE(History().recent(3).empty());
}

struct IsolatedReceives : testing::Test {
  World world;
  Queue& dead = world.create("dead");
  Queue& queue = world.create("orders", redriving());

  static QueueSettings redriving() {
    QueueSettings settings;
    settings.redrive = RedrivePolicy{identity_of("dead").arn(), 1};
    return settings;
  }
  void receive(bool isolated) {
    world.state.advance(queue, world.stamp.now);
    const ReceiveDecision decision = decide_receive(
        world.state,
        queue,
        {.max = 10, .visibility = seconds(1), .by = {}, .attempt_id = {}, .isolated = isolated},
        world.stamp);
    for (const MessageDeadLettered& each : decision.dead_lettered) world.apply(each);
    if (decision.received.count > 0) world.apply(decision.received);
    world.pass(seconds(2));
  }
};

TEST_F(IsolatedReceives, AReceiveThatEndedWithTheServerIsGrantedAgain) {
  world.send(queue);
  for (std::size_t i = 0; i < kUnjudgedMax; ++i) {
    receive(true);
    EXPECT_EQ(world.walk(dead), Keys{}) << i;
  }
  receive(true);
  EXPECT_EQ(world.walk(dead), Keys{1});
}

TEST_F(IsolatedReceives, APlainConsumerHasTheRulesOfAws) {
  world.send(queue);
  receive(false);
  receive(false);
  EXPECT_EQ(world.walk(dead), Keys{1});
}

}  // namespace
}  // namespace redrive::queue
