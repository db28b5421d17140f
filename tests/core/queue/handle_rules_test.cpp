#include "core/queue/handle_rules.h"

#include <gtest/gtest.h>

#include "tests/core/queue/world.h"

namespace redrive::queue {
namespace {

constexpr std::string_view kExpired = "The receipt handle has expired.";
constexpr std::string_view kGone =
    "Message does not exist or is not available for visibility timeout change.";

std::string refusal(std::string_view handle, std::string_view reason) {
  std::string text = "Value ";
  text.append(handle).append(" for parameter ReceiptHandle is invalid. Reason: ").append(reason);
  return text;
}

struct Handles : testing::Test {
  World world;
  Queue& queue = world.create("orders");
  Queue& fifo = world.create("orders.fifo", fifo_settings());

  std::string receive(Queue& from, seconds timeout = seconds(30)) {
    const Keys keys = world.receive(from, {.visibility = timeout});
    return keys.empty() ? "" : world.handle(from, keys[0]);
  }
  template <class T>
  void expect_expired(const Result<T>& result, std::string_view handle) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error(),
              (Error{ErrorCode::invalid_parameter_value, refusal(handle, kExpired)}));
  }
};

TEST_F(Handles, GarbageIsNoHandle) {
  const Error expected{ErrorCode::receipt_handle_is_invalid,
                       "The input receipt handle \"garbage\" is not a valid receipt handle."};
  EXPECT_EQ(world.remove(queue, "garbage").error(), expected);
  EXPECT_EQ(world.change_visibility(queue, "garbage", seconds(1)).error(), expected);
}

TEST_F(Handles, OfAnotherQueueIsNoHandleHere) {
  world.send(fifo, {.group = "g"});
  const std::string handle = receive(fifo);
  EXPECT_EQ(world.remove(queue, handle).error().code, ErrorCode::receipt_handle_is_invalid);
  EXPECT_EQ(world.change_visibility(queue, handle, seconds(1)).error().code,
            ErrorCode::receipt_handle_is_invalid);
}

TEST_F(Handles, OfADeletedQueueFitsNoLaterOneOfItsName) {
  world.send(queue);
  const std::string handle = receive(queue);
  world.apply(QueueDeleted{queue.key});
  Queue& again = world.create("orders");
  EXPECT_EQ(world.remove(again, handle).error().code, ErrorCode::receipt_handle_is_invalid);
}

// ---- Delete

TEST_F(Handles, DeletesTheMessage) {
  for (Queue* from : {&queue, &fifo}) {
    world.send(*from, {.group = "g"});
    const auto removed = world.remove(*from, receive(*from));
    ASSERT_TRUE(removed.has_value());
    EXPECT_TRUE(removed->has_value());
    EXPECT_EQ(world.counts(*from), (World::Counts{0, 0, 0}));
  }
}

TEST_F(Handles, DeletingTwiceIsFine) {
  for (Queue* from : {&queue, &fifo}) {
    world.send(*from, {.group = "g"});
    const std::string handle = receive(*from);
    ASSERT_TRUE(world.remove(*from, handle).has_value());
    const auto again = world.remove(*from, handle);
    ASSERT_TRUE(again.has_value());
    EXPECT_EQ(*again, std::nullopt);
  }
}

TEST_F(Handles, OfAPurgedOrExpiredMessageDeletesWithoutError) {
  world.send(queue);
  const std::string purged = receive(queue);
  world.apply(QueuePurged{queue.key});
  EXPECT_TRUE(world.remove(queue, purged).has_value());

  world.send(queue);
  const std::string expired = receive(queue);
  world.pass(queue.settings.retention);
  EXPECT_TRUE(world.remove(queue, expired).has_value());
}

TEST_F(Handles, OnAStandardQueueAnyHandleEverGivenDeletes) {
  world.send(queue);
  const std::string first = receive(queue, seconds(1));
  world.pass(seconds(1));
  const std::string second = receive(queue);
  EXPECT_NE(first, second);
  EXPECT_TRUE(world.remove(queue, first)->has_value());
  EXPECT_FALSE(world.exists(1));
}

TEST_F(Handles, OnAStandardQueueAHandleDeletesAfterItsTimeout) {
  world.send(queue);
  const std::string handle = receive(queue, seconds(1));
  world.pass(seconds(5));
  EXPECT_TRUE(world.remove(queue, handle)->has_value());
}

TEST_F(Handles, OnAFifoQueueTheTimeoutEndsTheHandle) {
  world.send(fifo, {.group = "g"});
  const std::string handle = receive(fifo, seconds(1));
  world.pass(seconds(1));
  expect_expired(world.remove(fifo, handle), handle);
  EXPECT_EQ(world.counts(fifo).visible, 1u);
}

TEST_F(Handles, OnAFifoQueueANewerReceiveEndsTheHandle) {
  world.send(fifo, {.group = "g"});
  const std::string first = receive(fifo, seconds(1));
  world.pass(seconds(1));
  const std::string second = receive(fifo);
  expect_expired(world.remove(fifo, first), first);
  EXPECT_TRUE(world.remove(fifo, second)->has_value());
}

// Those who never let a handle out of the server skip the proof, and nothing else.
TEST_F(Handles, OpenOnesAreJudgedLikeSealedOnes) {
  world.send(queue);
  world.send(fifo, {.group = "g"});
  const std::string held = receive(queue);
  const std::string expired = receive(fifo, seconds(1));
  world.pass(seconds(1));
  world.state.advance(fifo, world.stamp.now);
  const auto open = [&](std::string_view text) {
    return *ReceiptHandle::open(world.state.secret(), text);
  };
  ASSERT_TRUE(decide_delete(world.state, queue, open(held))->has_value());
  expect_expired(decide_delete(world.state, fifo, open(expired)), expired);
  EXPECT_EQ(decide_delete(world.state, queue, open(expired)).error(),
            decide_delete(world.state, queue, expired, world.stamp).error());
  EXPECT_TRUE(world.remove(queue, held)->has_value());
  EXPECT_FALSE(decide_delete(world.state, queue, open(held))->has_value());
}

TEST_F(Handles, OnAFifoQueueExtendingKeepsTheHandle) {
  world.send(fifo, {.group = "g"});
  const std::string handle = receive(fifo, seconds(1));
  ASSERT_TRUE(world.change_visibility(fifo, handle, seconds(30)).has_value());
  world.pass(seconds(10));
  EXPECT_TRUE(world.remove(fifo, handle)->has_value());
}

// A stay in a queue ends when the message moves on, and with it the handles of that stay.
TEST_F(Handles, FromBeforeADeadLetteringDeleteNothing) {
  Queue& dead = world.create("dead");
  QueueSettings settings;
  settings.redrive = RedrivePolicy{dead.identity.arn(), 1};
  world.change(queue, settings);
  world.send(queue);
  const std::string old = receive(queue, seconds(0));
  EXPECT_EQ(receive(queue), "");
  EXPECT_EQ(*world.remove(queue, old), std::nullopt);

  const std::string newer = receive(dead);
  world.apply(MessageRedriven{.task = {},
                              .key = static_cast<MessageKey>(1),
                              .from = dead.key,
                              .to = queue.key,
                              .message_id = world.ids.uuid(),
                              .sequence = number(world.state.last_key()) + 1});
  EXPECT_EQ(*world.remove(queue, old), std::nullopt);  // Here again, but another stay.
  EXPECT_EQ(*world.remove(dead, newer), std::nullopt);
  EXPECT_TRUE(world.exists(1));
  EXPECT_TRUE(world.remove(queue, receive(queue))->has_value());
}

// ---- ChangeMessageVisibility

TEST_F(Handles, VisibilityCountsFromNowAndDoesNotAdd) {
  world.send(queue);
  const std::string handle = receive(queue, seconds(30));
  world.pass(seconds(10));
  ASSERT_TRUE(world.change_visibility(queue, handle, seconds(5)).has_value());
  world.pass(seconds(5));
  EXPECT_EQ(world.counts(queue), (World::Counts{1, 0, 0}));
}

TEST_F(Handles, VisibilityZeroGivesTheMessageBackAtOnce) {
  for (Queue* from : {&queue, &fifo}) {
    world.send(*from, {.group = "g"});
    ASSERT_TRUE(world.change_visibility(*from, receive(*from), seconds(0)).has_value());
    EXPECT_EQ(world.counts(*from), (World::Counts{1, 0, 0}));
    EXPECT_NE(receive(*from), "");
  }
  EXPECT_EQ(world.history(1).attempts[0].end, AttemptEnd::released);
}

TEST_F(Handles, OnAStandardQueueAnOlderHandleStillChangesVisibility) {
  world.send(queue);
  const std::string first = receive(queue, seconds(1));
  world.pass(seconds(1));
  receive(queue);
  EXPECT_TRUE(world.change_visibility(queue, first, seconds(0)).has_value());
  EXPECT_EQ(world.counts(queue).visible, 1u);
}

TEST_F(Handles, OnAStandardQueueAnEndedHandleHidesTheMessageAgain) {
  world.send(queue);
  const std::string handle = receive(queue, seconds(1));
  world.pass(seconds(1));
  EXPECT_TRUE(world.change_visibility(queue, handle, seconds(20)).has_value());
  EXPECT_EQ(world.counts(queue), (World::Counts{0, 1, 0}));
  EXPECT_TRUE(world.change_visibility(queue, handle, seconds(0)).has_value());
  EXPECT_TRUE(world.change_visibility(queue, handle, seconds(0)).has_value());
  EXPECT_EQ(world.counts(queue), (World::Counts{1, 0, 0}));
}

TEST_F(Handles, OnAFifoQueueAnEndedHandleChangesNothing) {
  world.send(fifo, {.group = "g"});
  const std::string handle = receive(fifo, seconds(1));
  world.pass(seconds(1));
  expect_expired(world.change_visibility(fifo, handle, seconds(20)), handle);
  EXPECT_EQ(world.counts(fifo).visible, 1u);
}

TEST_F(Handles, OfADeletedMessageChangesNoVisibility) {
  for (Queue* from : {&queue, &fifo}) {
    world.send(*from, {.group = "g"});
    const std::string handle = receive(*from);
    ASSERT_TRUE(world.remove(*from, handle).has_value());
    EXPECT_EQ(world.change_visibility(*from, handle, seconds(1)).error(),
              (Error{ErrorCode::invalid_parameter_value, refusal(handle, kGone)}));
  }
}

// The twelve hours run from the receive, so that repeated extensions cannot hold a message for
// ever.
TEST_F(Handles, NoMessageIsHeldBeyondTwelveHours) {
  world.send(queue);
  const std::string handle = receive(queue, seconds(30));
  ASSERT_TRUE(world.change_visibility(queue, handle, kVisibilityTimeoutMax).has_value());
  world.pass(seconds(100));
  EXPECT_TRUE(world.change_visibility(queue, handle, seconds(43'100)).has_value());
  EXPECT_EQ(world.change_visibility(queue, handle, seconds(43'101)).error(),
            (Error{ErrorCode::invalid_parameter_value,
                   "Value 43101 for parameter VisibilityTimeout is invalid. Reason: Total "
                   "VisibilityTimeout for the message is beyond the limit [43200 seconds]"}));
}

}  // namespace
}  // namespace redrive::queue
