#include "bench/reply.h"

#include <gtest/gtest.h>

#include <string>

namespace redrive::bench {
namespace {

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nServer: x\r\ncontent-length: 5\r\nDate: y\r\n\r\nhello";

TEST(ParseReply, ReadsStatusAndBody) {
  const auto reply = parse_reply(kAnswer);
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ((*reply)->status, 200);
  EXPECT_EQ((*reply)->body, "hello");
  EXPECT_EQ((*reply)->size, kAnswer.size());
}

TEST(ParseReply, WaitsForEveryMissingByte) {
  for (std::size_t size = 0; size < kAnswer.size(); ++size) {
    SCOPED_TRACE(size);
    const auto reply = parse_reply(kAnswer.substr(0, size));
    ASSERT_TRUE(reply);
    EXPECT_FALSE(*reply);
  }
}

TEST(ParseReply, LeavesWhatFollows) {
  const auto reply = parse_reply(std::string(kAnswer) + "HTTP/1.1");
  ASSERT_TRUE(reply && *reply);
  EXPECT_EQ((*reply)->size, kAnswer.size());
}

TEST(ParseReply, RefusesWhatItCannotDelimit) {
  const std::string_view cases[] = {
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
      "HTTP/1.1\r\n\r\n",
      "220 mail.example\r\n\r\n",
  };
  for (const std::string_view bytes : cases) {
    SCOPED_TRACE(bytes);
    EXPECT_FALSE(parse_reply(bytes));
  }
}

}  // namespace
}  // namespace redrive::bench
