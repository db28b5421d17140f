#include <gtest/gtest.h>

#include "sim/invariants.h"
#include "tests/sim/facts.h"

// Checks that the simulator detects errors with dead letters.

namespace redrive::sim {
namespace {

constexpr auto kGroup = static_cast<queue::FailureGroupKey>(1);
constexpr auto kError = static_cast<queue::ErrorKey>(1);

struct NoBodies final : queue::BodyLedger {
  void hold(const queue::BodyRef&) override {}
  void let_go(const queue::BodyRef&) override {}
};

queue::MessageRedriven redriven(std::uint64_t key, std::uint64_t sequence) {
  static const queue::MessageRedriven kFact{.task = kTask, .from = kOther, .to = kQueue};
  queue::MessageRedriven fact = kFact;
  fact.key = message(key);
  fact.sequence = sequence;
  return fact;
}

// Three dead letters, the first two in one group, and a job that may move one before it waits.
struct Both {
  Both() : state(ledger) {
    tell(two_queues(Kind::standard));
    tell(record_of({sent(1), sent(2), sent(3), sent(4), received({1, 2, 3, 4})}));
    tell(record_of({queue::ErrorLearned{kError, {.type = "T"}},
                    queue::FailureReported{kQueue, message(1), kError, std::nullopt, {}}}));
    tell(record_of({dead(1, 5), dead(2, 6), dead(3, 7)}));
    tell(record_of({queue::GroupLearned{kGroup, kOther, {.id = {1}, .title = "t"}},
                    queue::MessageGrouped{message(1), kOther, kGroup},
                    queue::MessageGrouped{message(2), kOther, kGroup}}));
    tell(record_of({queue::MoveTaskStarted{.task = kTask,
                                           .source = kOther,
                                           .to_move = 3,
                                           .plan = {.group = kGroup,
                                                    .frozen_at = 7,
                                                    .stages = {1},
                                                    .failure_percent_max = 10,
                                                    .watch_seconds = 60}}}));
    tell(record_of({redriven(1, 8)}));
  }
  static queue::MessageDeadLettered dead(std::uint64_t key, std::uint64_t sequence) {
    return {message(key), kQueue, kOther, sequence};
  }
  void tell(const Record& record) {
    tell_state(record);
    model.apply(record);
  }
  void tell_state(const Record& record) {
    for (const queue::Change& fact : record.facts) state.apply(fact, record.stamp);
  }
  View view() const { return {state, model, kNoon}; }
  std::string difference() const {
    return broken_by([&] { memory_equals_the_model(view()); });
  }

  NoBodies ledger;
  queue::State state;
  Model model;
};

TEST(DeadLetters, AreKnownAlikeWhenBothHeardTheSame) {
  Both both;
  EXPECT_EQ(both.difference(), "");
  both.tell(record_of({received({1})}));
  both.tell(record_of({queue::MessageDeleted{kQueue, message(1)}}));
  EXPECT_EQ(both.difference(), "");
  EXPECT_EQ(both.model.tasks().at(kTask).counts.succeeded, 1u);
}

TEST(DeadLetters, DifferencesAreNoticed) {
  const struct {
    std::string_view name;
    queue::Change fact;
    std::string_view invariant;
  } cases[] = {
      {"a mark",
       queue::GroupMarked{kGroup, queue::GroupStatus::known, "", {}},
       "failure groups are exact"},
      {"a member",
       queue::MessageGrouped{message(3), kOther, kGroup},
       "messages are as they should be"},
      {"a stage",
       queue::MoveTaskChanged{kTask, queue::TaskStatus::running, 0, 1, ""},
       "move tasks are exact"},
      {"a text",
       queue::ErrorLearned{static_cast<queue::ErrorKey>(2), {.type = "U"}},
       "names and numbers are kept"},
      {"an edit",
       queue::MessageEdited{message(3), {}, {}, {}, {}},
       "messages are as they should be"},
      {"one that left for the archive",
       queue::MessageArchived{kOther, message(3), 8, {}, {}, {}, {}, "s3://graveyard/3"},
       "no message is lost"},
      {"statistics", queue::ProcessedCounted{kQueue, "counts"}, "queues are as they should be"},
      {"a failure",
       queue::FailureReported{kQueue, message(4), kError, std::nullopt, {}},
       "messages are as they should be"},
  };
  for (const auto& difference : cases) {
    SCOPED_TRACE(difference.name);
    Both both;
    both.tell_state(record_of({difference.fact}));
    EXPECT_EQ(both.difference(), difference.invariant);
  }
}

TEST(DeadLetters, WhatIsArchivedIsHeldAgainstTheModel) {
  Both both;
  const queue::MessageArchived gone{
      kOther, message(3), 9, Uuid{{1}}, Uuid{{1}}, {}, {}, "s3://graveyard/3"};
  both.tell(record_of({gone}));
  EXPECT_EQ(both.difference(), "");
  auto history = std::make_shared<queue::History>();
  history->add({.kind = queue::LineageEvent::Kind::unarchived});
  both.tell_state(record_of({sent(10), queue::LineageContinued{message(10), Uuid{{1}}, history}}));
  both.model.apply(record_of({sent(10)}));
  EXPECT_NE(both.difference(), "");
}

TEST(DeadLetters, FactsThatBreakARuleAreRefused) {
  constexpr std::string_view kJobs = "jobs do what they were asked to";
  constexpr std::string_view kGroups = "groups have dead letters of their queue";
  const struct {
    std::string_view name;
    std::vector<queue::Change> facts;
    std::string_view invariant;
  } cases[] = {
      {"beyond the stage", {redriven(2, 9)}, kJobs},
      {"another group's", {redriven(3, 9)}, kJobs},
      {"the next stage while one is open",
       {queue::MoveTaskChanged{kTask, queue::TaskStatus::running, 0, 1, ""}},
       kJobs},
      {"a halt for no reason",
       {queue::MoveTaskChanged{kTask, queue::TaskStatus::halted, 0, 0, ""}},
       kJobs},
      {"grouped twice", {queue::MessageGrouped{message(2), kOther, kGroup}}, kGroups},
      {"grouped alive", {queue::MessageGrouped{message(4), kQueue, kGroup}}, kGroups},
      {"the same group twice",
       {queue::GroupLearned{static_cast<queue::FailureGroupKey>(2), kOther, {.id = {1}}}},
       kGroups},
      {"discarded into a queue",
       {queue::MessageDiscarded{message(3), kOther, kQueue, 9, {}, {}}},
       "facts speak of what is there"},
      {"damaged into another queue",
       {queue::MessageDamaged{message(3), kOther, kQueue, 9, {}}},
       "facts speak of what is there"},
      {"edited while it is held",
       {queue::MessageEdited{message(4), {}, {}, {}, {}}},
       "facts speak of what is there"},
      {"edited without a trace of the original",
       {queue::MessageEdited{message(3), {}, {}, {}, {}}},
       "an edit keeps the original"},
      {"archived twice",
       {queue::MessageArchived{kOther, message(3), 9, {}, {}, {}, {}, "s3://graveyard/3"},
        queue::MessageArchived{kOther, message(3), 10, {}, {}, {}, {}, "s3://graveyard/3"}},
       "facts speak of what is there"},
      {"the history of one that was not just sent",
       {queue::LineageContinued{
           message(3), std::nullopt, std::make_shared<const queue::History>()}},
       "facts speak of what is there"},
      {"redriven by nobody",
       {queue::MessageRedriven{queue::TaskKey::none, message(3), kOther, kQueue, {}, 9}},
       "who edits or holds it may redrive"},
  };
  for (const auto& refusal : cases) {
    SCOPED_TRACE(refusal.name);
    Both both;
    EXPECT_EQ(broken_by([&] { both.model.apply(record_of(refusal.facts)); }), refusal.invariant);
  }
}

}  // namespace
}  // namespace redrive::sim
