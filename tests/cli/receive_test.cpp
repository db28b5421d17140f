#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/client/message_view.h"
#include "tests/cli/fake_world.h"

namespace redrive::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kQueue = "http://127.0.0.1:9324/000000000000/orders";
constexpr const char* kMd5 = "5d41402abc4b2a76b9719d911017c592";

std::string id_of(int number) {
  return fmt::format("00000000-0000-4000-8000-{:012}", number);
}

std::string message(int number) {
  return fmt::format(
      R"({{"MessageId":"{}","ReceiptHandle":"r{}","MD5OfBody":"{}","Body":"body {}"}})",
      id_of(number),
      number,
      kMd5,
      number);
}

std::string messages(std::vector<int> numbers) {
  std::vector<std::string> texts;
  for (const int number : numbers) texts.push_back(message(number));
  return fmt::format(R"({{"Messages":[{}]}})", fmt::join(texts, ","));
}

std::string plain(int number) {
  return fmt::format("{}\n  body {}\n", id_of(number), number);
}

struct ReceiveTest : testing::Test {
  FakeWorld world;
  FakeServer& server = world.server;

  void SetUp() override {
    server.answer("DeleteMessageBatch", "{}");
    server.answer("ChangeMessageVisibilityBatch", "{}");
  }
  std::vector<std::string> polls() { return server.bodies("ReceiveMessage"); }
};

TEST_F(ReceiveTest, MapsItsArguments) {
  const struct {
    std::vector<std::string> arguments;
    const char* rest;
  } cases[] = {
      {{}, R"("MaxNumberOfMessages":1,"WaitTimeSeconds":0)"},
      {{"--max", "5", "--wait", "20", "--visibility", "0"},
       R"("MaxNumberOfMessages":5,"VisibilityTimeout":0,"WaitTimeSeconds":20)"},
      {{"--max", "50"}, R"("MaxNumberOfMessages":10,"WaitTimeSeconds":0)"},
      {{"--all"}, R"("MaxNumberOfMessages":10,"WaitTimeSeconds":0)"},
  };
  server.answer("ReceiveMessage", "{}");
  for (const auto& test : cases) {
    SCOPED_TRACE(test.rest);
    server.calls.clear();
    std::vector<std::string> arguments = {"receive", kQueue};
    arguments.insert(arguments.end(), test.arguments.begin(), test.arguments.end());
    const Outcome outcome = world.run(arguments);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "no messages\n");
    EXPECT_THAT(
        polls(),
        ElementsAre(fmt::format(
            R"({{"QueueUrl":"{}","MessageSystemAttributeNames":["All"],"MessageAttributeNames":["All"],{}}})",
            kQueue,
            test.rest)));
  }
}

TEST_F(ReceiveTest, GoesOnUntilItHasEnough) {
  server.answer("ReceiveMessage", messages({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  server.answer("ReceiveMessage", messages({11, 12}));
  const Outcome outcome = world.run({"receive", kQueue, "--max", "12", "--wait", "5"});
  EXPECT_THAT(outcome.out, HasSubstr("body 12\n"));
  ASSERT_THAT(polls(), SizeIs(2));
  EXPECT_THAT(polls()[1], HasSubstr(R"("MaxNumberOfMessages":2,"WaitTimeSeconds":0)"));
  EXPECT_THAT(server.bodies("DeleteMessageBatch"), IsEmpty());
}

TEST_F(ReceiveTest, EmptiesTheQueue) {
  server.answer("ReceiveMessage", messages({1, 2}));
  server.answer("ReceiveMessage", messages({3}));
  server.answer("ReceiveMessage", "{}");
  const Outcome outcome = world.run({"receive", kQueue, "--all", "--delete"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, plain(1) + "\n" + plain(2) + "\n" + plain(3));
  EXPECT_THAT(
      server.bodies("DeleteMessageBatch"),
      ElementsAre(
          fmt::format(
              R"({{"QueueUrl":"{}","Entries":[{{"Id":"0","ReceiptHandle":"r1"}},{{"Id":"1","ReceiptHandle":"r2"}}]}})",
              kQueue),
          fmt::format(R"({{"QueueUrl":"{}","Entries":[{{"Id":"0","ReceiptHandle":"r3"}}]}})",
                      kQueue)));
}

// With a visibility timeout of 0 the same messages are received forever.
TEST_F(ReceiveTest, StopsWhenMessagesComeAgain) {
  server.answer("ReceiveMessage", messages({1, 2}));
  const Outcome outcome = world.run({"receive", kQueue, "--all", "--visibility", "0"});
  EXPECT_EQ(outcome.out, plain(1) + "\n" + plain(2));
  EXPECT_THAT(polls(), SizeIs(2));
}

TEST_F(ReceiveTest, PrintsWholeDocumentsAsJson) {
  const std::string document = fmt::format(
      R"({{"MessageId":"{}","ReceiptHandle":"r","MD5OfBody":"{}","Body":"h\u20ac\n","Attributes":{{"SentTimestamp":"5"}},"MessageAttributes":{{"n":{{"StringValue":"5","DataType":"Number"}}}}}})",
      id_of(1),
      kMd5);
  server.answer("ReceiveMessage", R"({"Messages":[)" + document + "]}");
  const Outcome outcome = world.run({"receive", kQueue, "--json"});
  EXPECT_THAT(
      outcome.out,
      HasSubstr(R"("Body":"h€\n","Attributes":{"SentTimestamp":"5"},"MessageAttributes":{"n":{)"));
  EXPECT_TRUE(outcome.out.ends_with("}\n"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(ReceiveTest, FailsWhenADeleteFails) {
  FakeWorld other;
  other.server.answer("ReceiveMessage", messages({1}));
  other.server.answer(
      "DeleteMessageBatch",
      R"({"Failed":[{"Id":"0","SenderFault":true,"Code":"ReceiptHandleIsInvalid","Message":"why"}]})");
  const Outcome outcome = other.run({"receive", kQueue, "--delete"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, plain(1));
  EXPECT_EQ(outcome.err, "redrive: ReceiptHandleIsInvalid: why\n");
}

TEST_F(ReceiveTest, RefusesContradictions) {
  EXPECT_EQ(world.run({"receive", kQueue, "--all", "--max", "3"}).exit_code, 2);
  EXPECT_EQ(world.run({"receive", kQueue, "--wait", "21"}).exit_code, 2);
  EXPECT_EQ(world.run({"receive"}).exit_code, 2);
  EXPECT_TRUE(server.calls.empty());
}

TEST_F(ReceiveTest, TailConsumesUntilInterrupted) {
  server.answer("ReceiveMessage", messages({1}));
  server.answer("ReceiveMessage", "{}");
  server.answer("ReceiveMessage", messages({2}));
  world.interrupt.polls_left = 3;
  const Outcome outcome = world.run({"tail", kQueue, "--delete"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, plain(1) + "\n" + plain(2));
  EXPECT_TRUE(world.interrupt.watching);
  ASSERT_THAT(polls(), SizeIs(3));
  EXPECT_THAT(polls()[0], HasSubstr(R"("MaxNumberOfMessages":10,"WaitTimeSeconds":20)"));
  EXPECT_THAT(server.bodies("DeleteMessageBatch"), SizeIs(2));
}

TEST_F(ReceiveTest, TailGivesBackWhatItLookedAtAndShowsItOnce) {
  server.answer("ReceiveMessage", messages({1, 2}));
  server.answer("ReceiveMessage", messages({3}));
  server.answer("ReceiveMessage", "{}");
  server.answer("ReceiveMessage", messages({1, 2, 3, 4}));
  server.answer("ReceiveMessage", "{}");
  world.interrupt.polls_left = 5;  // Two looks with a pause after each, and an empty poll.
  const Outcome outcome = world.run({"tail", kQueue});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, plain(1) + "\n" + plain(2) + "\n" + plain(3) + "\n" + plain(4));
  EXPECT_THAT(outcome.err, HasSubstr("each receive counts towards"));
  ASSERT_THAT(server.bodies("ChangeMessageVisibilityBatch"), SizeIs(2));
  EXPECT_EQ(
      server.bodies("ChangeMessageVisibilityBatch")[0],
      fmt::format(
          R"({{"QueueUrl":"{}","Entries":[{{"Id":"0","ReceiptHandle":"r1","VisibilityTimeout":0}},{{"Id":"1","ReceiptHandle":"r2","VisibilityTimeout":0}},{{"Id":"2","ReceiptHandle":"r3","VisibilityTimeout":0}}]}})",
          kQueue));
  EXPECT_THAT(server.bodies("DeleteMessageBatch"), IsEmpty());
}

TEST_F(ReceiveTest, TailOutlivesAShortOutage) {
  server.drop("ReceiveMessage");
  server.answer("ReceiveMessage", R"({"__type":"x#ServiceUnavailable","message":"m"})", 503);
  server.answer("ReceiveMessage", messages({1}));
  world.interrupt.polls_left = 3;
  const Outcome outcome = world.run({"tail", kQueue, "--delete"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, plain(1));
  EXPECT_THAT(world.pauses, SizeIs(2));
}

TEST_F(ReceiveTest, TailEndsWhenTheQueueIsGone) {
  server.answer("ReceiveMessage", R"({"__type":"x#QueueDoesNotExist","message":"gone"})", 400);
  world.interrupt.polls_left = 100;
  const Outcome outcome = world.run({"tail", kQueue, "--delete"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "redrive: QueueDoesNotExist: gone\n");
}

TEST(ReadableMessage, TellsWhatPeopleAskFirst) {
  std::istringstream in;
  std::ostringstream out;
  const Terminal terminal{.in = in, .out = out, .err = out};
  sqs::ReceivedMessage message{.body = R"({"a":1})"};
  message.attributes = {{"SentTimestamp", "1000000"},
                        {"ApproximateReceiveCount", "2"},
                        {"MessageGroupId", "g"},
                        {"DeadLetterQueueSourceArn", "arn:aws:sqs:r:0:orders"}};
  message.message_attributes = {
      {"color", {.data_type = "String", .string_value = "bl\x1bue"}},
      {"raw", {.data_type = "Binary", .binary_value = wire::Blob{"\xff"}}}};
  EXPECT_EQ(
      readable_message(terminal, message, Timestamp(1'000'000 + 7'300'000)),
      "00000000-0000-0000-0000-000000000000  sent 2 h ago, received 2 times, group g, failed in "
      "orders\n"
      "  color (String): bl\\x1bue\n"
      "  raw (Binary): /w==\n"
      "{\n  \"a\": 1\n}\n");
}

TEST(ReadableAge, PicksTheLargestUnitThatFits) {
  using namespace std::chrono_literals;
  const struct {
    Duration age;
    const char* text;
  } cases[] = {{-5s, "0 s"},
               {999ms, "0 s"},
               {59s, "59 s"},
               {60s, "1 min"},
               {59min, "59 min"},
               {1h, "1 h"},
               {49h, "2 d"}};
  for (const auto& test : cases) EXPECT_EQ(readable_age(test.age), test.text);
}

}  // namespace
}  // namespace redrive::cli
