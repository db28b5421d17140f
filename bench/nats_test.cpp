#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/nats_client.h"

namespace redrive::bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Kind = NatsFrame::Kind;

constexpr std::string_view kNatsBody = "00000000000000000007";

std::string message(std::string_view subscription, std::string_view reply, std::string_view text) {
  std::string out = "MSG _INBOX.x " + std::string(subscription) + " ";
  if (!reply.empty()) out += std::string(reply) + " ";
  return out + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

TEST(NatsFrame, EveryKindIsRead) {
  struct Case {
    std::string_view bytes;
    Kind kind;
    std::string_view subscription;
    std::string_view reply;
    std::string_view payload;
  };
  const Case cases[] = {
      {"INFO {\"a\":1}\r\n", Kind::info, "", "", "INFO {\"a\":1}"},
      {"PING\r\n", Kind::ping, "", "", "PING"},
      {"PONG\r\n", Kind::pong, "", "", "PONG"},
      {"+OK\r\n", Kind::ok, "", "", "+OK"},
      {"-ERR 'Slow'\r\n", Kind::error, "", "", "-ERR 'Slow'"},
      {"MSG s 9 0\r\n\r\n", Kind::message, "9", "", ""},
      {"MSG s 9 4\r\na\r\nb\r\n", Kind::message, "9", "", "a\r\nb"},
      {"MSG s 9 r.1 1\r\nx\r\n", Kind::message, "9", "r.1", "x"},
      {"HMSG s 9 12 12\r\nNATS/1.0\r\n\r\n\r\n",
       Kind::message_with_header,
       "9",
       "",
       "NATS/1.0\r\n\r\n"},
      {"HMSG s 9 r 12 13\r\nNATS/1.0\r\n\r\nx\r\n",
       Kind::message_with_header,
       "9",
       "r",
       "NATS/1.0\r\n\r\nx"},
  };
  for (const Case& given : cases) {
    SCOPED_TRACE(given.bytes);
    const std::string bytes = std::string(given.bytes) + "PING";
    const auto frame = parse_nats(bytes);
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ((*frame)->kind, given.kind);
    EXPECT_EQ((*frame)->subscription, given.subscription);
    EXPECT_EQ((*frame)->reply, given.reply);
    EXPECT_EQ((*frame)->payload, given.payload);
    EXPECT_EQ((*frame)->size, given.bytes.size());
    for (std::size_t size = 0; size < given.bytes.size(); ++size) {
      const auto part = parse_nats(given.bytes.substr(0, size));
      ASSERT_TRUE(part);
      EXPECT_FALSE(*part) << size;
    }
  }
}

TEST(NatsFrame, WhatIsNoFrameIsRefused) {
  for (const std::string_view bytes :
       {"\r\n", "HTTP/1.1 400\r\n", "MSG s 1\r\n", "MSG s 1 x\r\n"}) {
    SCOPED_TRACE(bytes);
    EXPECT_FALSE(parse_nats(bytes));
  }
}

TEST(NatsClient, MakesStreamAndConsumerBeforeItBegins) {
  NatsClient client({.queue = "q"});
  std::string in, out;
  EXPECT_EQ(client.greet(in, out), Progress::under_way);
  EXPECT_EQ(out, "");
  in = "INFO {}\r\n";
  EXPECT_EQ(client.greet(in, out), Progress::under_way);
  EXPECT_THAT(out, StartsWith("CONNECT {"));
  EXPECT_THAT(out, HasSubstr("PUB $JS.API.STREAM.CREATE.S_q "));
  EXPECT_THAT(out, HasSubstr("PUB $JS.API.CONSUMER.DURABLE.CREATE.S_q.g "));
  in = message("3", "", "{\"config\":{}}") + message("3", "", "{\"name\":\"g\"}");
  EXPECT_EQ(client.greet(in, out), Progress::done);
}

class OpenNatsClient : public testing::Test {
 protected:
  OpenNatsClient() {
    in = "INFO {}\r\n" + message("3", "", "{}") + message("3", "", "{}");
    EXPECT_EQ(client.greet(in, out), Progress::done);
    out.clear();
  }
  NatsClient client{{.queue = "q", .batch = 2, .receive_batch = 2, .body_bytes = kStampDigits}};
  std::string in, out;
};

TEST_F(OpenNatsClient, ASendIsDoneWhenEveryMessageIsConfirmed) {
  client.send(out, Nanos(7));
  EXPECT_THAT(out, StartsWith("PUB q _INBOX."));
  EXPECT_THAT(out, HasSubstr("1 20\r\n" + std::string(kNatsBody) + "\r\nPUB q _INBOX."));
  in = message("1", "", "{\"stream\":\"S_q\",\"seq\":1}");
  EXPECT_EQ(client.take(in, out), Progress::under_way);
  in = message("1", "", "{\"stream\":\"S_q\",\"seq\":2}");
  EXPECT_EQ(client.take(in, out), Progress::done);
}

TEST_F(OpenNatsClient, ARefusalEndsIt) {
  client.send(out, Nanos(7));
  in = message("1", "", "{\"error\":{\"code\":503}}");
  EXPECT_FALSE(client.take(in, out));
  in = "-ERR 'Authorization Violation'\r\n";
  EXPECT_FALSE(client.take(in, out));
}

TEST_F(OpenNatsClient, MessagesThatComeDuringAcksWaitForTheNextReceive) {
  EXPECT_EQ(client.receive(out), Progress::under_way);
  EXPECT_THAT(out, HasSubstr("PUB $JS.API.CONSUMER.MSG.NEXT.S_q.g "));
  in = message("2", "$JS.ACK.1", kNatsBody);
  EXPECT_EQ(client.take(in, out), Progress::done);
  ASSERT_EQ(client.received().size(), 1u);
  EXPECT_EQ(client.received()[0].sent, Nanos(7));
  out.clear();
  EXPECT_EQ(client.remove(out), Progress::under_way);
  EXPECT_THAT(out, StartsWith("PUB $JS.ACK.1 _INBOX."));
  EXPECT_THAT(out, HasSubstr(" 4\r\n+ACK\r\n"));
  in = message("2", "$JS.ACK.2", kNatsBody);
  EXPECT_EQ(client.take(in, out), Progress::under_way);
  in = message("1", "", "");
  EXPECT_EQ(client.take(in, out), Progress::done);
  EXPECT_EQ(client.receive(out), Progress::done);
  ASSERT_EQ(client.received().size(), 1u);
  EXPECT_EQ(client.received()[0].handle, "$JS.ACK.2");
}

TEST_F(OpenNatsClient, APullThatTheServerEndsIsAnEmptyReceive) {
  EXPECT_EQ(client.receive(out), Progress::under_way);
  in = "HMSG _INBOX.x 2 28 28\r\nNATS/1.0 408 Timed Out12\r\n\r\n\r\n";
  EXPECT_EQ(client.take(in, out), Progress::done);
  EXPECT_TRUE(client.received().empty());
}

TEST_F(OpenNatsClient, APingIsAnswered) {
  in = "PING\r\n";
  EXPECT_EQ(client.take(in, out), Progress::under_way);
  EXPECT_EQ(out, "PONG\r\n");
}

}  // namespace
}  // namespace redrive::bench
