#include "net/http/socket_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "net/http/poller.h"

namespace redrive::http {
namespace {

using testing::ElementsAre;

struct Pair {
  Pair() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    here = Descriptor(ends[0]);
    there = Descriptor(ends[1]);
  }
  std::string arrived() {
    std::array<char, 256> bytes;
    const ssize_t count = receive_now(there.number(), bytes);
    return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : "";
  }
  Descriptor here;
  Descriptor there;
};

// Both modes, and single calls, which bypass the ring.
struct SocketBatchTest : testing::TestWithParam<SocketBatch::Way> {
  SocketBatch batch{GetParam()};
  std::array<Pair, 3> pairs;
  std::array<std::array<char, 16>, 3> rooms;

  void ask_all() {
    for (std::size_t i = 0; i < pairs.size(); ++i) batch.receive(pairs[i].here.number(), rooms[i]);
  }
};

TEST_P(SocketBatchTest, ResultsComeInTheOrderOfAsking) {
  send_now(pairs[0].there.number(), "one");
  send_now(pairs[2].there.number(), "three");
  ask_all();
  batch.send(pairs[1].here.number(), "answer");
  EXPECT_THAT(batch.run(), ElementsAre(3, -EAGAIN, 5, 6));
  EXPECT_EQ(std::string_view(rooms[0].data(), 3), "one");
  EXPECT_EQ(std::string_view(rooms[2].data(), 5), "three");
  EXPECT_EQ(pairs[1].arrived(), "answer");
}

TEST_P(SocketBatchTest, ARunLeavesNothingForTheNext) {
  ask_all();
  EXPECT_THAT(batch.run(), ElementsAre(-EAGAIN, -EAGAIN, -EAGAIN));
  EXPECT_TRUE(batch.empty());
  send_now(pairs[1].there.number(), "late");  // No call is pending for it.
  batch.receive(pairs[1].here.number(), rooms[1]);
  EXPECT_THAT(batch.run(), ElementsAre(4));
  EXPECT_TRUE(batch.run().empty());
}

TEST_P(SocketBatchTest, MoreThanThereIsRoomForStaysInTheSocket) {
  send_now(pairs[0].there.number(), "twenty-two characters.");
  ask_all();
  EXPECT_THAT(batch.run(), ElementsAre(16, -EAGAIN, -EAGAIN));
  ask_all();
  EXPECT_THAT(batch.run(), ElementsAre(6, -EAGAIN, -EAGAIN));
}

TEST_P(SocketBatchTest, AnEndIsNoBytesAndABrokenPipeNoSignal) {
  pairs[0].there.close();
  ask_all();
  batch.send(pairs[0].here.number(), "to nobody");
  EXPECT_THAT(batch.run(), ElementsAre(0, -EAGAIN, -EAGAIN, -EPIPE));
}

TEST_P(SocketBatchTest, WhatTheOtherSideDoesNotTakeDoesNotWait) {
  const std::string much(std::size_t{4} << 20, 'x');
  batch.send(pairs[0].here.number(), much);
  batch.send(pairs[1].here.number(), "little");
  const auto results = batch.run();
  EXPECT_GT(results[0], 0);
  EXPECT_LT(results[0], std::ssize(much));
  EXPECT_EQ(results[1], 6);
  batch.send(pairs[0].here.number(), much);
  batch.receive(pairs[0].here.number(), rooms[0]);
  EXPECT_THAT(batch.run(), ElementsAre(-EAGAIN, -EAGAIN));
}

TEST_P(SocketBatchTest, AsManyAsItHolds) {
  for (int round = 0; round < 3; ++round) {
    while (!batch.is_full()) batch.send(pairs[0].here.number(), "x");
    EXPECT_THAT(batch.run(),
                testing::AllOf(testing::SizeIs(SocketBatch::kCallsMax), testing::Each(1)));
  }
  EXPECT_EQ(pairs[0].arrived(), std::string(3 * SocketBatch::kCallsMax, 'x'));
}

INSTANTIATE_TEST_SUITE_P(Ways, SocketBatchTest,
                         testing::Values(SocketBatch::Way::together, SocketBatch::Way::one_by_one));

TEST(SocketBatch, IsMadeOneByOneWhereThatIsAskedFor) {
  EXPECT_EQ(SocketBatch(SocketBatch::Way::one_by_one).way(), SocketBatch::Way::one_by_one);
}

}  // namespace
}  // namespace redrive::http
