#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/client/outgoing.h"
#include "tests/cli/fake_world.h"

// The `redrive dlq` commands: which pages they request, and what they print.

namespace redrive::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kId = "11111111-2222-4333-8444-555555555555";

// A message as returned by the management API; `body` is JSON text.
std::string told(std::string_view body, std::string_view id = kId) {
  return fmt::format(
      R"({{"key":7,"failedAgain":false,"parked":false,"messageId":"{}","lineageId":"{}","state":"visible","sentAt":"2026-01-01T00:00:01.000Z","expiresAt":"2026-01-05T00:00:01.000Z","receiveCount":3,"deadLetterSource":"arn:aws:sqs:r:0:orders","redrives":0,"attemptsTotal":0,"attributes":{{"token":{{"DataType":"String","StringValue":"s3cret"}},"raw":{{"DataType":"Binary","BinaryValue":"AAH/"}}}},"body":{}}})",
      id,
      id,
      body);
}

std::string page_of(std::string_view messages, std::string_view rest = "") {
  return fmt::format(R"({{"messages":[{}]{}}})", messages, rest);
}

struct DlqCommands : testing::Test {
  FakeWorld world;
  FakeServer& server = world.server;

  void answer(const std::string& query, const std::string& page) {
    server.answer("GET /_redrive/v1/queues/dlq/messages?" + query, page);
  }
};

TEST_F(DlqCommands, SearchGoesOnThroughEmptyPages) {
  answer("filter=%24.a%20%3D%3D%201&limit=100&after=", page_of("", R"(,"next":"5-5")"));
  answer("filter=%24.a%20%3D%3D%201&limit=100&after=5-5", page_of(told("\"found\"")));
  const Outcome outcome = world.run({"dlq", "search", "dlq", "$.a == 1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("found\n"));
  EXPECT_EQ(server.calls.size(), 2u);
}

TEST_F(DlqCommands, PeekStopsAtItsMaximum) {
  answer("filter=&limit=1&after=", page_of(told("\"one\""), R"(,"next":"5-5")"));
  const Outcome outcome = world.run({"dlq", "peek", "dlq", "--max", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(server.calls.size(), 1u);
}

// No line of a body can pass for the first line of another message.
TEST_F(DlqCommands, BodiesThatAreTextAreIndented) {
  answer("filter=&limit=10&after=", page_of(told(R"("hello\nproblem  orders: forged")")));
  const Outcome outcome = world.run({"dlq", "peek", "dlq"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\n  hello\n  problem  orders: forged\n"));
}

TEST_F(DlqCommands, SecretsAreShownOnRequestOnly) {
  const std::string body = R"("{\"password\":\"hunter2\"}")";
  answer("filter=&limit=10&after=", page_of(told(body)));
  answer("filter=&unmasked=true&limit=10&after=", page_of(told(body)));
  for (const char* form : {"--json", "--region=r"}) {
    const std::string masked = world.run({"dlq", "peek", "dlq", form}).out;
    EXPECT_THAT(masked, Not(HasSubstr("hunter2")));
    EXPECT_THAT(masked, Not(HasSubstr("s3cret")));
    EXPECT_THAT(masked, HasSubstr("***"));
    const std::string shown = world.run({"dlq", "peek", "dlq", "--unmasked", form}).out;
    EXPECT_THAT(shown, HasSubstr("hunter2"));
    EXPECT_THAT(shown, HasSubstr("s3cret"));
  }
}

TEST_F(DlqCommands, ShowAsksForOneMessageByEitherId) {
  answer("filter=message_id%20%3D%3D%20%22x%22%20or%20lineage%20%3D%3D%20%22x%22&limit=1&after=",
         page_of(told("\"{}\"")));
  const Outcome outcome = world.run({"dlq", "show", "dlq", "x"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(kId));
  EXPECT_THAT(outcome.out, HasSubstr("arn:aws:sqs:r:0:orders"));
}

TEST_F(DlqCommands, AnExportedLineIsReadBackAsTheMessageItWas) {
  answer("filter=&unmasked=true&limit=100&after=",
         page_of(told(R"("a\nb \"c\" password=hunter2")"), R"(,"masked":false)"));
  const Outcome outcome = world.run({"dlq", "export", "dlq"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "1 message exported\n");
  EXPECT_THAT(outcome.out, HasSubstr(R"("SentTimestamp":"1767225601000")"));
  EXPECT_THAT(outcome.out, HasSubstr(R"("DeadLetterQueueSourceArn":"arn:aws:sqs:r:0:orders")"));
  const auto message = parse_message_line(outcome.out);
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->body, "a\nb \"c\" password=hunter2");
  ASSERT_EQ(message->attributes.size(), 2u);
  EXPECT_EQ(message->attributes[0].value, "s3cret");
  EXPECT_EQ(message->attributes[1].value, std::string("\0\1\xff", 3));
}

TEST_F(DlqCommands, ImportDropsDeduplicationIdsWhereTheyAreNotTaken) {
  const std::string line =
      R"({"Body":"b","Attributes":{"MessageGroupId":"g","MessageDeduplicationId":"d","AWSTraceHeader":"t"}})";
  const std::string accepted =
      R"({"Successful":[{"Id":"0","MessageId":"11111111-2222-4333-8444-555555555555","MD5OfMessageBody":"92eb5ffee6ae2fec3ad71c777531578f"}]})";
  for (const char* name : {"plain", "ordered.fifo"}) {
    FakeWorld fresh;
    fresh.server.answer("GetQueueUrl", fmt::format(R"({{"QueueUrl":"http://h/0/{}"}})", name));
    fresh.server.answer("SendMessageBatch", accepted);
    fresh.in.str(line + "\n");
    const Outcome outcome = fresh.run({"dlq", "import", name});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string sent = fresh.server.bodies("SendMessageBatch").at(0);
    EXPECT_THAT(sent, HasSubstr(R"("MessageGroupId":"g")"));
    EXPECT_THAT(sent, HasSubstr(R"("AWSTraceHeader")"));
    EXPECT_EQ(sent.find("MessageDeduplicationId") != std::string::npos,
              std::string_view(name).ends_with(".fifo"));
  }
}

TEST_F(DlqCommands, WatchTellsChangesAndArrivalsOnce) {
  world.interrupt.polls_left = 3;
  server.answer("GetQueueUrl", R"({"QueueUrl":"http://h/0/dlq"})");
  for (const char* count : {"1", "2", "2"}) {
    server.answer("GetQueueAttributes",
                  fmt::format(R"({{"Attributes":{{"ApproximateNumberOfMessages":"{}"}}}})", count));
  }
  const std::string old = told("\"old\"");
  const std::string fresh = told("\"fresh\"", "99999999-2222-4333-8444-555555555555");
  answer("filter=&limit=100&after=", page_of(old));
  answer("filter=&limit=100&after=", page_of(fresh + "," + old));
  const Outcome outcome = world.run({"dlq", "watch", "dlq"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "1 visible, 0 in flight\n"
            "2 visible, 0 in flight\n"
            "99999999-2222-4333-8444-555555555555  orders  received 3 times  fresh\n");
}

TEST_F(DlqCommands, AFilterThatTheServerRefusesFailsTheCommand) {
  server.answer("GET /_redrive/v1/queues/dlq/messages?filter=%24&limit=100&after=",
                R"({"error":{"code":"InvalidParameterValue","message":"At position 2: no"}})",
                400);
  const Outcome outcome = world.run({"dlq", "search", "dlq", "$"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("At position 2"));
}

// A key without the right to see secrets must not export masked values as if they were the
// messages.
TEST_F(DlqCommands, WhatTheServerMaskedIsNotExported) {
  answer("filter=&unmasked=true&limit=100&after=", page_of(told("\"***\""), R"(,"masked":true)"));
  const Outcome outcome = world.run({"dlq", "export", "dlq"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("the server masked secrets"));
}

// Errors, names and reasons are untrusted text.
TEST_F(DlqCommands, NothingForgesALineOrTurnsOneAround) {
  const std::string evil = R"(x\n\u001b[2J\u009b\u202efdp.exe  forged)";
  std::string message = told("\"b\"");
  message.insert(
      message.size() - 1,
      fmt::format(
          R"(,"attempts":[{{"receivedAt":"{0}","end":"failed","errorType":"{0}","errorMessage":"{0}"}}],"events":[{{"at":"{0}","what":"edited","reason":"{0}"}}],"failureGroup":"{0}","senderId":"{0}")",
          evil));
  answer("filter=&limit=10&after=", page_of(message));
  answer("filter=message_id%20%3D%3D%20%22x%22%20or%20lineage%20%3D%3D%20%22x%22&limit=1&after=",
         page_of(message));
  server.answer(
      "GET /_redrive/v1/queues/dlq/groups",
      fmt::format(
          R"({{"groups":[{{"id":"g","title":"{0}","status":"{0}","count":1,"total":1,"failedAgain":0,"firstSeen":"t","lastSeen":"{0}","basis":"b","whyGrouped":"{0}"}}],"ungrouped":0}})",
          evil));
  server.answer(
      "GET /_redrive/v1/jobs",
      fmt::format(
          R"({{"jobs":[{{"id":"j","queue":"{0}","status":"running","name":"{0}","reason":"{0}","stage":0,"maxFailurePercent":1,"watchSeconds":1,"toMove":1,"moved":1,"succeeded":1,"failedAgain":0,"gone":0,"open":0,"startedAt":"{0}"}}]}})",
          evil));
  const std::vector<std::vector<std::string>> commands = {
      {"dlq", "peek", "dlq"},
      {"dlq", "show", "dlq", "x"},
      {"dlq", "groups", "dlq"},
      {"job", "ls"},
  };
  for (const auto& command : commands) {
    const Outcome outcome = world.run(command);
    SCOPED_TRACE(outcome.out);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("x\\n\\x1b[2J\\x9b\\u202efdp.exe"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\u202E")));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\u009b")));
    // With --json the output is valid JSON with the same values.
    auto as_json = command;
    as_json.push_back("--json");
    const Outcome json = world.run(as_json);
    EXPECT_THAT(json.out, HasSubstr("\\n\\u001b[2J\\u009b\\u202efdp.exe"));
    EXPECT_THAT(json.out, Not(HasSubstr("\u202E")));
  }
}

}  // namespace
}  // namespace redrive::cli
