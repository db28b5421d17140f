#include "core/queue/receive.h"

#include <gtest/gtest.h>

#include "tests/core/queue/world.h"

namespace redrive::queue {
namespace {

constexpr Asked kAtOnce{.max = 10, .visibility = seconds(0)};

struct DeadLetters : testing::Test {
  World world;
  Queue& dead = world.create("dead");
  Queue& queue = world.create("orders", redriving(2));

  QueueSettings redriving(std::uint32_t receive_count_max) const {
    QueueSettings settings;
    settings.redrive = RedrivePolicy{identity_of("dead").arn(), receive_count_max};
    return settings;
  }
};

// The receive after the last allowed one is not a delivery: the consumer never sees the message.
TEST_F(DeadLetters, AMessageMovesOnceItsReceivesAreSpent) {
  world.send(queue);
  EXPECT_EQ(world.receive(queue, kAtOnce), Keys{1});
  EXPECT_EQ(world.receive(queue, kAtOnce), Keys{1});
  EXPECT_EQ(world.walk(dead), Keys{});
  EXPECT_EQ(world.receive(queue, kAtOnce), Keys{});
  EXPECT_EQ(world.walk(queue), Keys{});
  EXPECT_EQ(world.walk(dead), Keys{1});
}

TEST_F(DeadLetters, TheReceiveGoesOnLookingForOthers) {
  world.send(queue);
  for (int i = 0; i < 2; ++i) world.receive(queue, kAtOnce);
  world.send(queue);
  EXPECT_EQ(world.receive(queue, {.max = 1}), Keys{2});
  EXPECT_EQ(world.walk(dead), Keys{1});
}

TEST_F(DeadLetters, TimeAloneMovesNothing) {
  world.send(queue);
  for (int i = 0; i < 2; ++i) world.receive(queue, kAtOnce);
  world.pass(std::chrono::hours(1));
  EXPECT_EQ(world.counts(queue).visible, 1u);
}

TEST_F(DeadLetters, WithoutTheirQueueMessagesStayAndAreDelivered) {
  world.send(queue);
  world.apply(QueueDeleted{dead.key});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(world.receive(queue, kAtOnce), Keys{1});
}

TEST_F(DeadLetters, AQueueOfTheOtherKindTakesNone) {
  EXPECT_EQ(dead_letter_target(world.state, queue), &dead);
  EXPECT_EQ(dead_letter_target(world.state, dead), nullptr);
  world.apply(QueueDeleted{dead.key});
  world.create("dead", fifo_settings());
  EXPECT_EQ(dead_letter_target(world.state, queue), nullptr);
}

TEST_F(DeadLetters, ALowerLimitCatchesWhatWasReceivedBefore) {
  world.change(queue, redriving(5));
  world.send(queue);
  for (int i = 0; i < 3; ++i) world.receive(queue, kAtOnce);
  world.change(queue, redriving(2));
  EXPECT_EQ(world.receive(queue, kAtOnce), Keys{});
  EXPECT_EQ(world.walk(dead), Keys{1});
}

// A queue full of dead letters does not stop the others: they move in portions.
TEST_F(DeadLetters, OneReceiveMovesAThousandAtMost) {
  constexpr std::size_t kMessages = kDeadLettersPerReceive + 500;
  world.change(queue, redriving(1));
  for (std::size_t i = 0; i < kMessages; ++i) world.send(queue);
  for (std::size_t i = 0; i < kMessages; i += 10) world.receive(queue, {.max = 10});
  world.pass(seconds(30));
  EXPECT_EQ(world.decide(queue, {}).dead_lettered.size(), kDeadLettersPerReceive);
  EXPECT_EQ(world.receive(queue), Keys{});
  EXPECT_EQ(world.counts(dead).visible, kDeadLettersPerReceive);
  EXPECT_EQ(world.receive(queue), Keys{});
  EXPECT_EQ(world.counts(dead).visible, kMessages);
}

TEST_F(DeadLetters, TheMoveKeepsCountAgeAndGroupAndNamesTheSource) {
  world.send(queue, {.group = "tenant"});
  const Timestamp sent_at = world.stamp.now;
  for (int i = 0; i < 2; ++i) world.receive(queue, kAtOnce);
  world.pass(seconds(10));
  world.receive(queue, kAtOnce);
  EXPECT_EQ(world.message(1).receive_count, 2u);
  EXPECT_EQ(world.message(1).sent_at, sent_at);
  EXPECT_EQ(world.state.name(world.history(1).dead_letter_source), queue.identity.arn());
  EXPECT_EQ(world.history(1).origin, queue.arn);
  EXPECT_EQ(world.state.mailbox(dead).groups(), 1u);
  EXPECT_EQ(world.receive(dead), Keys{1});
  EXPECT_EQ(world.message(1).receive_count, 3u);
}

TEST(FifoDeadLetters, UnblockTheGroupAndStartTheirAgeAnew) {
  World world;
  Queue& dead = world.create("dead.fifo", fifo_settings());
  QueueSettings settings = fifo_settings();
  settings.redrive = RedrivePolicy{dead.identity.arn(), 1};
  Queue& queue = world.create("orders.fifo", settings);
  world.send(queue, {.group = "g"});
  EXPECT_EQ(world.receive(queue, {.visibility = seconds(5)}), Keys{1});
  world.send(queue, {.group = "g"});
  world.pass(seconds(5));
  EXPECT_EQ(world.receive_all(queue), Keys{2});
  EXPECT_EQ(world.message(1).sent_at, world.stamp.now);
  EXPECT_TRUE(world.history(1).dedup_is_message_id);
  EXPECT_EQ(world.receive_all(dead), Keys{1});
}

// ---- The limit of messages in flight.

TEST(InFlightLimit, IsReachedAt120000) {
  World world;
  Queue& queue = world.create("orders");
  for (std::size_t i = 0; i < kInFlightMax + 1; ++i) world.send(queue);
  for (std::size_t i = 10; i < kInFlightMax; i += 10) world.receive_all(queue);
  ASSERT_EQ(world.counts(queue), (World::Counts{11, kInFlightMax - 10, 0}));

  EXPECT_FALSE(world.decide(queue, {.max = 10}).in_flight_limit_reached);
  EXPECT_EQ(world.receive(queue, {.max = 9}).size(), 9u);
  const ReceiveDecision last = world.decide(queue, {.max = 10});
  EXPECT_EQ(last.received.count, 1u);  // As many as there is room for.
  EXPECT_TRUE(last.in_flight_limit_reached);
  world.receive(queue, {.max = 10});
  EXPECT_EQ(world.decide(queue, {}).delivered(), 0u);
  EXPECT_TRUE(world.decide(queue, {}).in_flight_limit_reached);

  world.forget(queue, 1);
  EXPECT_EQ(world.receive(queue), Keys{kInFlightMax + 1});
}

// ---- ReceiveRequestAttemptId: the same request again gives the same messages again.

struct RepeatedAttempt : testing::Test {
  World world;
  Queue& queue = world.create("orders.fifo", fifo_settings());
  const Asked asked{.max = 2, .visibility = seconds(30), .attempt_id = "attempt"};

  RepeatedAttempt() {
    for (int i = 0; i < 3; ++i) world.send(queue, {.group = "g"});
  }
};

TEST_F(RepeatedAttempt, GivesTheSameMessagesAndHandlesAndRestartsTheirTimeout) {
  EXPECT_EQ(world.receive(queue, asked), (Keys{1, 2}));
  const std::string handle = world.handle(queue, 1);
  world.pass(seconds(20));
  EXPECT_EQ(world.receive(queue, asked), (Keys{1, 2}));
  EXPECT_EQ(world.handle(queue, 1), handle);
  EXPECT_EQ(world.message(1).receive_count, 1u);
  world.pass(seconds(20));
  EXPECT_EQ(world.counts(queue).in_flight, 2u);
}

TEST_F(RepeatedAttempt, AnotherIdGetsNothingFromABlockedGroup) {
  world.receive(queue, asked);
  EXPECT_EQ(world.receive(queue, {.max = 2, .attempt_id = "other"}), Keys{});
  EXPECT_EQ(world.receive(queue, {.max = 2}), Keys{});
}

TEST_F(RepeatedAttempt, ADeletedMessageEndsIt) {
  world.receive(queue, asked);
  world.forget(queue, 1);
  EXPECT_EQ(world.receive(queue, asked), Keys{});
}

TEST_F(RepeatedAttempt, AChangedVisibilityEndsIt) {
  world.receive(queue, asked);
  world.hold(queue, 2, seconds(60));
  EXPECT_EQ(world.receive(queue, asked), Keys{});
}

TEST_F(RepeatedAttempt, ATimeoutThatEndedMakesItAReceiveLikeAnyOther) {
  world.receive(queue, asked);
  world.pass(seconds(30));
  EXPECT_EQ(world.receive(queue, asked), (Keys{1, 2}));
  EXPECT_EQ(world.message(1).receive_count, 2u);
}

TEST_F(RepeatedAttempt, IsForgottenAfterFiveMinutes) {
  Asked patient = asked;
  patient.visibility = std::chrono::hours(1);
  world.receive(queue, patient);
  world.pass(kReceiveAttemptWindow - Duration(1));
  EXPECT_EQ(world.decide(queue, patient).repeated.count, 2u);
  world.pass(Duration(1));
  EXPECT_EQ(world.decide(queue, patient).delivered(), 0u);
}

TEST_F(RepeatedAttempt, MeansNothingToAStandardQueue) {
  Queue& standard = world.create("standard");
  world.send(standard);
  world.send(standard);
  EXPECT_EQ(world.receive(standard, {.attempt_id = "attempt"}), Keys{4});
  EXPECT_EQ(world.receive(standard, {.attempt_id = "attempt"}), Keys{5});
  EXPECT_TRUE(standard.receive_attempts.empty());
}

}  // namespace
}  // namespace redrive::queue
