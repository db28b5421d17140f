#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/fake_world.h"

// `redrive doctor`, `topology` and `dlq ls`: their requests to a server, AWS included, and their
// output. The rules have their own tests.

namespace redrive::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kDlqMissing =
    R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."})";
constexpr const char* kDlqDenied =
    R"({"__type":"com.amazonaws.sqs#AccessDenied","message":"not for you"})";

struct DoctorCommand : testing::Test {
  FakeWorld world;
  FakeServer& server = world.server;

  // orders -> dlq, in list order.
  void two_queues(const std::string& dlq_messages) {
    server.answer("ListQueues", R"({"QueueUrls":["http://h/0/orders","http://h/0/dlq"]})");
    server.answer(
        "GetQueueAttributes",
        R"({"Attributes":{"QueueArn":"arn:aws:sqs:r:0:orders","MessageRetentionPeriod":"345600","VisibilityTimeout":"30","RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:r:0:dlq\",\"maxReceiveCount\":\"2\"}"}})");
    server.answer(
        "GetQueueAttributes",
        R"({"Attributes":{"QueueArn":"arn:aws:sqs:r:0:dlq","MessageRetentionPeriod":"1209600","VisibilityTimeout":"30","ApproximateNumberOfMessages":")" +
            dlq_messages +
            R"(","RedriveAllowPolicy":"{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[\"arn:aws:sqs:r:0:orders\"]}"}})");
  }
};

TEST_F(DoctorCommand, WarningsDoNotFailUnlessAskedTo) {
  two_queues("0");
  const Outcome outcome = world.run({"doctor"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("warning  orders: messages become dead letters after 2 receives\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  fix: redrive queue set orders 'RedrivePolicy="));
  EXPECT_EQ(outcome.err, "2 queues examined, 1 found\n");
  EXPECT_EQ(world.run({"doctor", "--fail-on", "sometimes"}).exit_code, 2);
}

TEST_F(DoctorCommand, FailOnWarningFails) {
  two_queues("0");
  const Outcome outcome = world.run({"doctor", "--fail-on", "warning", "--json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              HasSubstr(R"({"severity":"warning","rule":"few-receives","queue":"orders",)"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(DoctorCommand, AnotherQueuesFindingsAreLeftOut) {
  two_queues("0");
  const Outcome outcome = world.run({"doctor", "dlq", "--fail-on", "advice"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
}

TEST_F(DoctorCommand, AsksForTheOldestDeadLetterByTheServersTime) {
  two_queues("1");
  server.answer(
      "GET /_redrive/v1/queues/dlq/messages?limit=1",
      R"({"messages":[{"key":1,"failedAgain":false,"parked":false,"messageId":"00000000-0000-4000-8000-000000000000","lineageId":"00000000-0000-4000-8000-000000000000","state":"visible","sentAt":"2026-01-01T00:00:00.000Z","expiresAt":"2026-01-15T00:00:00.000Z","receiveCount":2,"redrives":0,"attemptsTotal":2,"body":"x"}],"now":"2026-01-14T12:00:00.000Z"})");
  const Outcome outcome = world.run({"doctor"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(
      outcome.out,
      HasSubstr("problem  dlq: it contains 1 dead letters, and the oldest expires in 12.0 h"));
}

TEST_F(DoctorCommand, AServerWithoutManagementIsExaminedToo) {
  two_queues("1");
  const Outcome outcome = world.run({"doctor"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("become dead letters after 2 receives"));
}

TEST_F(DoctorCommand, AwsIsNotAskedWhatOnlyRedriveKnows) {
  two_queues("1");
  world.run(
      {"doctor", "--endpoint-url", "https://sqs.eu-west-1.amazonaws.com", "--no-sign-request"});
  for (const auto& call : server.calls) EXPECT_THAT(call.action, testing::Not(HasSubstr("GET ")));
  EXPECT_EQ(server.calls.size(), 3u);
}

TEST_F(DoctorCommand, AnUnlistedDeadLetterQueueIsLookedUpBeforeItIsCalledMissing) {
  const auto only_orders = [](FakeServer& fake) {
    fake.answer("ListQueues", R"({"QueueUrls":["http://h/0/orders"]})");
    fake.answer(
        "GetQueueAttributes",
        R"({"Attributes":{"QueueArn":"arn:aws:sqs:r:0:orders","MessageRetentionPeriod":"345600","VisibilityTimeout":"30","RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:r:0:dlq\",\"maxReceiveCount\":5}"}})");
  };
  only_orders(server);
  server.answer("GetQueueUrl", kDlqMissing, 400);
  EXPECT_THAT(world.run({"doctor", "--json"}).out, HasSubstr("dlq-missing"));

  FakeWorld forbidden;
  only_orders(forbidden.server);
  forbidden.server.answer("GetQueueUrl", kDlqDenied, 403);
  const Outcome outcome = forbidden.run({"doctor", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST_F(DoctorCommand, DlqListShowsDeadLetterQueuesOnly) {
  two_queues("7");
  const Outcome outcome = world.run({"dlq", "ls"});
  EXPECT_EQ(outcome.out,
            "NAME  MESSAGES  IN FLIGHT  OLDEST  EXPIRES IN  SOURCES\n"
            "dlq          7          0                      orders\n");
}

TEST_F(DoctorCommand, TopologyTakesOneFormAtATime) {
  EXPECT_EQ(world.run({"topology", "--dot", "--mermaid"}).exit_code, 2);
  two_queues("7");
  EXPECT_EQ(world.run({"topology"}).out,
            "dlq  7 visible\n"
            "└─ orders  empty; after 2 receives\n");
}

TEST_F(DoctorCommand, TopologyAsDocuments) {
  two_queues("7");
  EXPECT_THAT(
      world.run({"topology", "--json"}).out,
      testing::StartsWith(
          R"({"name":"dlq","arn":"arn:aws:sqs:r:0:dlq","fifo":false,"visible":7,"inFlight":0,"delayed":0,"sources":["arn:aws:sqs:r:0:orders"]})"
          "\n"));
}

}  // namespace
}  // namespace redrive::cli
