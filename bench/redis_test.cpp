#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/redis_client.h"

namespace redrive::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kRedisBody = "00000000000000000007";

TEST(Resp, ACommandIsAnArrayOfTexts) {
  std::string out;
  append_command(out, {"XLEN", "q"});
  EXPECT_EQ(out, "*2\r\n$4\r\nXLEN\r\n$1\r\nq\r\n");
}

TEST(Resp, AnswersAreLaidFlat) {
  struct Case {
    std::string_view bytes;
    std::vector<std::string_view> texts;
    std::string_view error;
  };
  const Case cases[] = {
      {"+OK\r\n", {}, ""},
      {":12\r\n", {}, ""},
      {"$-1\r\n", {}, ""},
      {"*-1\r\n", {}, ""},
      {"*0\r\n", {}, ""},
      {"$0\r\n\r\n", {""}, ""},
      {"$4\r\na\r\nb\r\n", {"a\r\nb"}, ""},
      {"-ERR no\r\n", {}, "ERR no"},
      {"*2\r\n*2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n", {"a", "b"}, ""},
  };
  for (const Case& given : cases) {
    SCOPED_TRACE(given.bytes);
    const std::string bytes = std::string(given.bytes) + "+more";
    const auto parsed = parse_resp(bytes);
    ASSERT_TRUE(parsed && *parsed);
    EXPECT_EQ((*parsed)->texts, given.texts);
    EXPECT_EQ((*parsed)->error, given.error);
    EXPECT_EQ((*parsed)->size, given.bytes.size());
    for (std::size_t size = 0; size < given.bytes.size(); ++size) {
      const auto part = parse_resp(given.bytes.substr(0, size));
      ASSERT_TRUE(part);
      EXPECT_FALSE(*part) << size;
    }
  }
}

TEST(Resp, WhatIsNoAnswerIsRefused) {
  for (const std::string_view bytes : {"\r\n", "HTTP/1.1 400\r\n", "$x\r\n", "*\r\n"}) {
    SCOPED_TRACE(bytes);
    EXPECT_FALSE(parse_resp(bytes));
  }
}

TEST(RedisClient, TheGroupMayExist) {
  for (const std::string answer :
       {"+OK\r\n", "-BUSYGROUP Consumer Group name already exists\r\n"}) {
    RedisClient client({.queue = "q"});
    std::string in, out;
    EXPECT_EQ(client.greet(in, out), Progress::under_way);
    EXPECT_THAT(out, HasSubstr("XGROUP"));
    in = answer;
    EXPECT_EQ(client.greet(in, out), Progress::done);
    EXPECT_EQ(in, "");
  }
  RedisClient client({.queue = "q"});
  std::string in, out;
  ASSERT_TRUE(client.greet(in, out));
  in = "-NOAUTH Authentication required.\r\n";
  EXPECT_FALSE(client.greet(in, out));
}

TEST(RedisClient, ASendIsDoneWhenEveryMessageIsAnswered) {
  RedisClient client({.queue = "q", .batch = 2, .body_bytes = kStampDigits});
  std::string in, out;
  client.send(out, Nanos(7));
  const std::string one = "*5\r\n$4\r\nXADD\r\n$1\r\nq\r\n$1\r\n*\r\n$1\r\nb\r\n$20\r\n" +
                          std::string(kRedisBody) + "\r\n";
  EXPECT_EQ(out, one + one);
  in = "$3\r\n1-0\r\n$3\r\n1";
  EXPECT_EQ(client.take(in, out), Progress::under_way);
  in += "-1\r\n";
  EXPECT_EQ(client.take(in, out), Progress::done);
  EXPECT_EQ(in, "");
}

TEST(RedisClient, WhatWasReceivedIsAckedAndDeleted) {
  RedisClient client({.queue = "q", .wait_seconds = 1});
  std::string in, out;
  EXPECT_EQ(client.receive(out), Progress::under_way);
  EXPECT_THAT(out, HasSubstr("$5\r\nBLOCK\r\n$4\r\n1000\r\n"));
  const std::string fields = "*2\r\n$1\r\nb\r\n$20\r\n" + std::string(kRedisBody) + "\r\n";
  in = "*1\r\n*2\r\n$1\r\nq\r\n*2\r\n*2\r\n$3\r\n1-0\r\n" + fields + "*2\r\n$3\r\n2-0\r\n" + fields;
  EXPECT_EQ(client.take(in, out), Progress::done);
  ASSERT_EQ(client.received().size(), 2u);
  EXPECT_EQ(client.received()[1].handle, "2-0");
  EXPECT_EQ(client.received()[1].sent, Nanos(7));
  out.clear();
  EXPECT_EQ(client.remove(out), Progress::under_way);
  EXPECT_EQ(out,
            "*5\r\n$4\r\nXACK\r\n$1\r\nq\r\n$1\r\ng\r\n$3\r\n1-0\r\n$3\r\n2-0\r\n"
            "*4\r\n$4\r\nXDEL\r\n$1\r\nq\r\n$3\r\n1-0\r\n$3\r\n2-0\r\n");
  in = ":2\r\n:2\r\n";
  EXPECT_EQ(client.take(in, out), Progress::done);
}

TEST(RedisClient, AnErrorEndsIt) {
  RedisClient client({.queue = "q"});
  std::string in = "-OOM command not allowed\r\n", out;
  client.send(out, Nanos(7));
  const auto taken = client.take(in, out);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("OOM"));
}

}  // namespace
}  // namespace redrive::bench
