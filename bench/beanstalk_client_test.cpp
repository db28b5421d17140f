#include "bench/beanstalk_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redrive::bench {
namespace {

constexpr std::string_view kBeanstalkBody = "00000000000000000007";

TEST(BeanstalkClient, GreetsWithTheTubeItUses) {
  BeanstalkClient client({.queue = "q"});
  std::string in, out;
  EXPECT_EQ(client.greet(in, out), Progress::under_way);
  EXPECT_EQ(out, "use q\r\nwatch q\r\nignore default\r\n");
  in = "USING q\r\nWATCHING 2\r\nWATCH";
  EXPECT_EQ(client.greet(in, out), Progress::under_way);
  in += "ING 1\r\n";
  EXPECT_EQ(client.greet(in, out), Progress::done);
  EXPECT_EQ(in, "");
}

TEST(BeanstalkClient, ASendIsDoneWhenEveryJobIsInserted) {
  BeanstalkClient client({.queue = "q", .batch = 2, .body_bytes = kStampDigits});
  std::string in, out;
  client.send(out, Nanos(7));
  const std::string one = "put 0 0 600 20\r\n" + std::string(kBeanstalkBody) + "\r\n";
  EXPECT_EQ(out, one + one);
  in = "INSERTED 1\r\nINSERTED";
  EXPECT_EQ(client.take(in, out), Progress::under_way);
  in += " 2\r\n";
  EXPECT_EQ(client.take(in, out), Progress::done);
}

TEST(BeanstalkClient, OnlyTheFirstReserveOfABatchWaits) {
  BeanstalkClient client({.receive_batch = 2, .wait_seconds = 3});
  std::string out;
  EXPECT_EQ(client.receive(out), Progress::under_way);
  EXPECT_EQ(out, "reserve-with-timeout 3\r\nreserve-with-timeout 0\r\n");
}

TEST(BeanstalkClient, WhatWasReservedIsDeleted) {
  BeanstalkClient client({.receive_batch = 3});
  std::string in, out;
  client.receive(out);
  const std::string job = " 20\r\n" + std::string(kBeanstalkBody) + "\r\n";
  const std::string answer = "RESERVED 11" + job + "RESERVED 12" + job + "TIMED_OUT\r\n";
  for (std::size_t i = 0; i + 1 < answer.size(); ++i) {
    in += answer[i];
    ASSERT_EQ(client.take(in, out), Progress::under_way) << i;
  }
  in += answer.back();
  ASSERT_EQ(client.take(in, out), Progress::done);
  ASSERT_EQ(client.received().size(), 2u);
  EXPECT_EQ(client.received()[0].sent, Nanos(7));
  out.clear();
  EXPECT_EQ(client.remove(out), Progress::under_way);
  EXPECT_EQ(out, "delete 11\r\ndelete 12\r\n");
  in = "DELETED\r\nDELETED\r\n";
  EXPECT_EQ(client.take(in, out), Progress::done);
}

TEST(BeanstalkClient, AnythingElseEndsIt) {
  for (const std::string_view answer : {"OUT_OF_MEMORY", "DRAINING", "BURIED 1", "DELETED"}) {
    SCOPED_TRACE(answer);
    BeanstalkClient client({.queue = "q"});
    std::string in = std::string(answer) + "\r\n", out;
    client.send(out, Nanos(7));
    EXPECT_FALSE(client.take(in, out));
  }
}

}  // namespace
}  // namespace redrive::bench
