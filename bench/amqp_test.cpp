#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/amqp_client.h"

namespace redrive::bench {
namespace {

using namespace std::string_view_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kAmqpBody = "00000000000000000007";

std::string method(std::uint32_t id, std::string_view arguments = "") {
  std::string out;
  append_amqp_frame(out, AmqpFrame::method, 1, AmqpWriter(id).bytes() + std::string(arguments));
  return out;
}

std::string ack(std::uint64_t tag, bool multiple) {
  return method(amqp_id(60, 80), AmqpWriter().u64(tag).u8(multiple).bytes());
}

std::string delivery(std::uint64_t tag, std::vector<std::string_view> pieces) {
  std::string out =
      method(amqp_id(60, 60), AmqpWriter().short_text("c").u64(tag).u8(0).short_text("").bytes());
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  append_amqp_frame(
      out, AmqpFrame::header, 1, AmqpWriter().u16(60).u16(0).u64(size).u16(0).bytes());
  for (const std::string_view piece : pieces) append_amqp_frame(out, AmqpFrame::body, 1, piece);
  return out;
}

TEST(AmqpFrame, HasItsBytes) {
  std::string out;
  AmqpWriter(amqp_id(60, 80)).u64(258).u8(1).append_frame(out, 1);
  EXPECT_EQ(out,
            "\x01\x00\x01\x00\x00\x00\x0d"
            "\x00\x3c\x00\x50\x00\x00\x00\x00\x00\x00\x01\x02\x01\xce"sv);
  const std::string bytes = out + "more";
  const auto frame = parse_amqp(bytes);
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->type, AmqpFrame::method);
  EXPECT_EQ((*frame)->size, out.size());
  AmqpReader reader((*frame)->payload);
  EXPECT_EQ(reader.number(4), amqp_id(60, 80));
  EXPECT_EQ(reader.number(8), 258u);
  for (std::size_t size = 0; size < out.size(); ++size) {
    const auto part = parse_amqp(std::string_view(out).substr(0, size));
    ASSERT_TRUE(part);
    EXPECT_FALSE(*part) << size;
  }
}

TEST(AmqpFrame, TextsHaveTheirLengthInFront) {
  EXPECT_EQ(AmqpWriter().short_text("ab").long_text("c").bytes(),
            "\x02"
            "ab\x00\x00\x00\x01"
            "c"sv);
  AmqpReader reader(
      "\x02"
      "ab\xff"sv);
  EXPECT_EQ(reader.short_text(), "ab");
  EXPECT_EQ(reader.short_text(), "");
  EXPECT_EQ(reader.number(4), 0u);
}

TEST(AmqpFrame, WhatIsNoFrameIsRefused) {
  EXPECT_FALSE(parse_amqp("AMQP\0\0\x09\x01"sv));
  EXPECT_FALSE(parse_amqp("\x01\x00\x01\x00\x00\x00\x01xy"sv));
}

TEST(AmqpClient, EachStepOfTheGreetingAnswersTheLast) {
  struct Step {
    std::uint32_t heard;
    std::uint32_t said;
  };
  const std::vector<Step> first = {{amqp_id(10, 10), amqp_id(10, 11)},
                                   {amqp_id(10, 30), amqp_id(10, 31)},
                                   {amqp_id(10, 41), amqp_id(20, 10)},
                                   {amqp_id(20, 11), amqp_id(50, 10)}};
  std::vector<Step> producer = first;
  producer.push_back({amqp_id(50, 11), amqp_id(85, 10)});
  std::vector<Step> consumer = first;
  consumer.push_back({amqp_id(50, 11), amqp_id(60, 10)});
  consumer.push_back({amqp_id(60, 11), amqp_id(60, 20)});
  const auto play = [](Role role, const std::vector<Step>& steps, std::uint32_t last) {
    AmqpClient client({.role = role, .queue = "q"});
    std::string in, out;
    EXPECT_EQ(client.greet(in, out), Progress::under_way);
    EXPECT_EQ(out, "AMQP\0\0\x09\x01"sv);
    for (const Step& step : steps) {
      out.clear();
      in = method(step.heard);
      EXPECT_EQ(client.greet(in, out), Progress::under_way);
      EXPECT_THAT(out.substr(7), StartsWith(AmqpWriter(step.said).bytes()));
    }
    in = method(last) + "rest";
    EXPECT_EQ(client.greet(in, out), Progress::done);
    EXPECT_EQ(in, "rest");
  };
  play(Role::producer, producer, amqp_id(85, 11));
  play(Role::consumer, consumer, amqp_id(60, 21));
}

TEST(AmqpClient, ARefusedGreetingSaysWhy) {
  AmqpClient client({.queue = "q"});
  std::string in =
      method(amqp_id(10, 50), AmqpWriter().u16(403).short_text("ACCESS_REFUSED").bytes());
  std::string out;
  const auto greeted = client.greet(in, out);
  ASSERT_FALSE(greeted);
  EXPECT_THAT(greeted.error().message, HasSubstr("ACCESS_REFUSED"));
}

TEST(AmqpClient, ASendIsAPublishAHeaderAndTheBody) {
  AmqpClient client({.queue = "q", .body_bytes = kStampDigits});
  std::string out;
  client.send(out, Nanos(7));
  EXPECT_EQ(
      out,
      "\x01\x00\x01\x00\x00\x00\x0a\x00\x3c\x00\x28\x00\x00\x00\x01q\x00\xce"
      "\x02\x00\x01\x00\x00\x00\x0f\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00\x00\x14\x10\x00\x02\xce"
      "\x03\x00\x01\x00\x00\x00\x14"
      "00000000000000000007\xce"sv);
}

TEST(AmqpClient, ALargeBodyIsSplit) {
  AmqpClient client({.queue = "q", .body_bytes = 200'000});
  std::string out;
  client.send(out, Nanos(7));
  int bodies = 0;
  for (std::string_view rest = out; !rest.empty();) {
    const auto frame = parse_amqp(rest);
    ASSERT_TRUE(frame && *frame);
    EXPECT_LE((*frame)->size, 131072u);
    bodies += (*frame)->type == AmqpFrame::body;
    rest.remove_prefix((*frame)->size);
  }
  EXPECT_EQ(bodies, 2);
}

// A server may confirm one by one, in any order, or many at once.
TEST(AmqpClient, ASendIsDoneWhenEveryMessageIsConfirmed) {
  AmqpClient client({.queue = "q", .batch = 3});
  std::string in, out;
  client.send(out, Nanos(7));
  in = ack(3, false);
  EXPECT_EQ(client.take(in, out), Progress::under_way);
  in = ack(2, true);
  EXPECT_EQ(client.take(in, out), Progress::done);
  client.send(out, Nanos(8));
  in = ack(4, false) + ack(5, false);
  EXPECT_EQ(client.take(in, out), Progress::under_way);
  in = ack(6, false);
  EXPECT_EQ(client.take(in, out), Progress::done);
}

TEST(AmqpClient, ANackEndsIt) {
  AmqpClient client({.queue = "q"});
  std::string in = method(amqp_id(60, 120)), out;
  client.send(out, Nanos(7));
  EXPECT_FALSE(client.take(in, out));
}

TEST(AmqpClient, MessagesThatCameAreAckedTogether) {
  AmqpClient client({.role = Role::consumer, .queue = "q"});
  std::string in, out;
  EXPECT_EQ(client.receive(out), Progress::under_way);
  EXPECT_EQ(out, "");
  const std::string next = delivery(3, {kAmqpBody});
  in = delivery(1, {kAmqpBody}) + delivery(2, {kAmqpBody.substr(0, 5), kAmqpBody.substr(5)}) +
       next.substr(0, next.size() - 3);
  EXPECT_EQ(client.take(in, out), Progress::done);
  ASSERT_EQ(client.received().size(), 2u);
  EXPECT_EQ(client.received()[1].sent, Nanos(7));
  EXPECT_EQ(client.remove(out), Progress::done);
  EXPECT_EQ(out, ack(2, true)) << "and not the third, of which a part is missing";
  EXPECT_EQ(client.receive(out), Progress::under_way);
  in += next.substr(next.size() - 3);
  EXPECT_EQ(client.take(in, out), Progress::done);
  EXPECT_EQ(client.received().size(), 1u);
}

TEST(AmqpClient, WhatComesUnaskedWaitsForTheNextReceive) {
  AmqpClient client({.role = Role::consumer, .queue = "q"});
  std::string in = delivery(1, {kAmqpBody}), out;
  EXPECT_EQ(client.take(in, out), Progress::under_way);
  EXPECT_EQ(client.receive(out), Progress::done);
  EXPECT_EQ(client.received().size(), 1u);
}

}  // namespace
}  // namespace redrive::bench
