#include "sim/model.h"

#include <gtest/gtest.h>

#include "tests/sim/facts.h"

namespace redrive::sim {
namespace {

struct Refusal {
  std::string_view name;
  std::vector<queue::Change> facts;
  std::string_view invariant;
};

// Standard queues with message 1 visible and message 2 in flight, and a task that moves one.
TEST(Model, RefusesFactsThatBreakARule) {
  const Refusal cases[] = {
      {"a gap in the keys", {sent(4)}, "keys and sequence numbers grow one by one"},
      {"in flight", {received({2})}, "only visible messages are received"},
      {"never sent", {received({3})}, "facts speak of what is there"},
      {"deleted elsewhere",
       {queue::MessageDeleted{kOther, message(1)}},
       "facts speak of what is there"},
      {"a queue that is there",
       {queue::QueueCreated{static_cast<queue::QueueKey>(3), {}, named("a.fifo"), {}, {}}},
       "facts speak of what is there"},
      {"a move of what is in flight",
       {queue::MessageRedriven{kTask, message(2), kQueue, kOther, {}, 3}},
       "move tasks never touch messages in flight"},
      {"a move too many",
       {queue::MessageRedriven{kTask, message(1), kQueue, kOther, {}, 3},
        queue::MessageRedriven{kTask, message(1), kQueue, kOther, {}, 4}},
       "a task moves no more than it set out to"},
      {"a task that ends with work left",
       {queue::MoveTaskEnded{kTask, queue::TaskStatus::completed, {}}},
       "a task is complete when nothing is left to move"},
      {"a second start", {queue::ServerStarted{}}, "a journal starts once"},
  };
  const std::string arn = named("b.fifo").arn();
  for (const Refusal& refusal : cases) {
    SCOPED_TRACE(refusal.name);
    Model model;
    model.apply(two_queues(Kind::standard));
    model.apply(record_of({sent(1), sent(2), received({2})}));
    model.apply(record_of({queue::MoveTaskStarted{
        .task = kTask, .source = kQueue, .destination_arn = arn, .to_move = 1}}));
    EXPECT_EQ(broken_by([&] { model.apply(record_of(refusal.facts)); }), refusal.invariant);
  }
}

TEST(Model, RefusesTimeThatRunsBackwards) {
  Model model;
  model.apply(two_queues(Kind::standard));
  EXPECT_EQ(broken_by([&] { model.apply(record_of({}, kNoon - Duration(1))); }),
            "time never runs backwards in the journal");
}

TEST(Model, RefusesADuplicateUntilTheWindowEnds) {
  Model model;
  model.apply(two_queues(Kind::fifo));
  model.apply(record_of({sent(1, "g", "d")}));
  const Timestamp end = kNoon + std::chrono::minutes(5);
  Model early = model;
  EXPECT_EQ(broken_by([&] { early.apply(record_of({sent(2, "g", "d")}, end - Duration(1))); }),
            "deduplication windows are exact");
  EXPECT_EQ(broken_by([&] { model.apply(record_of({sent(2, "g", "d")}, end)); }), "");
}

struct Receive {
  std::string_view name;
  std::vector<queue::Change> facts;
  std::string_view invariant;
};

// Messages 1, 2 and 3 of group g and 4 of group h are visible; 2 has used up its receives. Three
// are requested.
TEST(Model, KnowsWhatAFifoReceiveMayTake) {
  const queue::MessageDeadLettered spent{message(2), kQueue, kOther, 5};
  const Receive cases[] = {
      {"as it should be", {spent, received({1, 3, 4})}, ""},
      {"the other group first", {spent, received({4, 1, 3})}, ""},
      {"out of order", {spent, received({3, 1, 4})}, "FIFO: a group is received in order"},
      {"one left out", {received({1, 3, 4})}, "FIFO: a group is received in order"},
      {"one group in two pieces",
       {spent, received({1, 4, 3})},
       "FIFO: as many as possible from one group, then the next"},
      {"too few", {spent, received({1, 3})}, "a receive gives what there is"},
      {"nothing", {}, "a receive gives what there is"},
      {"a spent one", {received({1, 2, 3})}, "dead-lettering is exact"},
      {"one that is not spent",
       {queue::MessageDeadLettered{message(1), kQueue, kOther, 5}, spent, received({3, 4})},
       "dead-lettering is exact"},
      {"one twice", {spent, received({1, 1, 3})}, "a receive takes only what is available, once"},
      {"another timeout",
       {spent, received({1, 3, 4}, Duration(29'999))},
       "a receive hides for as long as was asked"},
  };
  for (const Receive& receive : cases) {
    SCOPED_TRACE(receive.name);
    Model model;
    model.apply(two_queues(Kind::fifo));
    model.apply(
        record_of({sent(1, "g", "1"), sent(2, "g", "2"), sent(3, "g", "3"), sent(4, "h", "4")}));
    model.apply(record_of({received({2}, Duration::zero())}));
    const Record record = record_of(receive.facts);
    const Ask ask{.queue = kQueue, .max = 3};
    EXPECT_EQ(
        broken_by([&] { model.check_receive(ask, receive.facts.empty() ? nullptr : &record); }),
        receive.invariant);
  }
}

TEST(Model, StopsAGroupAtTheFirstInvisibleMessage) {
  Model model;
  model.apply(two_queues(Kind::fifo));
  model.apply(record_of({sent(1, "g", "1"), sent(2, "g", "2"), sent(3, "g", "3"), received({2})}));
  EXPECT_EQ(model.available(kQueue), std::vector{message(1)});
  model.advance(kNoon + Duration(30'000));
  EXPECT_EQ(model.available(kQueue), (std::vector{message(1), message(2), message(3)}));
}

TEST(Model, ForgetsWhatOutlivedItsRetention) {
  Model model;
  model.apply(two_queues(Kind::standard));
  model.apply(record_of({sent(1)}));
  const Timestamp end = kNoon + Duration(std::chrono::days(4));
  model.advance(end - Duration(1));
  EXPECT_EQ(model.messages().size(), 1u);
  model.advance(end);
  EXPECT_EQ(model.messages().size(), 0u);
}

}  // namespace
}  // namespace redrive::sim
