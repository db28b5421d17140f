#include "tests/authorization/world.h"

// What was once possible, step by step.

namespace redrive::authorization {
namespace {

class CasesTest : public testing::Test {
 protected:
  CasesTest() {
    for (const char* name : {"a-queue", "a-dlq", "secret"}) world_.make_queue(name);
    world_.make_function("secret-fn");
  }

  std::string alarm(const std::string& action) {
    return fmt::format(R"({{"AlarmName":"a-alarm","Namespace":"AWS/SQS",
        "MetricName":"NumberOfMessagesSent","Dimensions":[{{"Name":"QueueName","Value":"a-queue"}}],
        "Statistic":"Sum","Period":60,"EvaluationPeriods":1,"Threshold":1,
        "ComparisonOperator":"GreaterThanThreshold","AlarmActions":["{}"]}})",
                       action);
  }
  static std::string url(std::string_view queue) {
    return fmt::format("http://test:1/{}/{}", kHome, queue);
  }

  World world_;
};

TEST_F(CasesTest, AnAlarmOfARestrictedOperatorSendsNothingToOtherQueuesAndFunctions) {
  for (const std::string& action : {queue_arn("secret"), function_arn("secret-fn")}) {
    const Answer made = world_.cloudwatch("operator", "PutMetricAlarm", alarm(action));
    EXPECT_TRUE(made.denied()) << made.body;
    const Answer other = world_.cloudwatch("other", "PutMetricAlarm", alarm(action));
    EXPECT_TRUE(other.denied()) << other.body;
  }
  (void)world_.cloudwatch("operator",
                          "SetAlarmState",
                          R"({"AlarmName":"a-alarm","StateValue":"ALARM","StateReason":"r"})");
  EXPECT_TRUE(world_.notifier().wait_idle(std::chrono::seconds(5)));
  EXPECT_EQ(world_.messages_in("secret"), 0u);
  EXPECT_TRUE(world_.invoked.empty());
}

// The alarm is an admin's; setting it off would send in the operator's name.
TEST_F(CasesTest, NobodySetsOffAnAlarmWhoMayNotSendToItsTargets) {
  world_.make_alarm("a-alarm", "a-queue", {queue_arn("secret")});
  const std::string body = R"({"AlarmName":"a-alarm","StateValue":"ALARM","StateReason":"r"})";
  EXPECT_TRUE(world_.cloudwatch("operator", "SetAlarmState", body).denied());
  EXPECT_TRUE(world_.cloudwatch("operator", "EnableAlarmActions", R"({"AlarmNames":["a-alarm"]})")
                  .denied());
  EXPECT_EQ(world_.messages_in("secret"), 0u);
  EXPECT_EQ(world_.cloudwatch("root", "SetAlarmState", body).status, 200);
  EXPECT_TRUE(world_.notifier().wait_idle(std::chrono::seconds(5)));
  EXPECT_EQ(world_.messages_in("secret"), 1u);
}

TEST_F(CasesTest, ADeadLetterQueueMustBeOneThatTheKeyIsFor) {
  world_.make_queue("secret-fn!async");
  const auto set = [&](std::string_view who, const std::string& target) {
    return world_.sqs(
        who,
        "SetQueueAttributes",
        fmt::format(
            R"({{"QueueUrl":"{}","Attributes":{{"RedrivePolicy":"{{\"deadLetterTargetArn\":\"{}\",\"maxReceiveCount\":1}}"}}}})",
            url("a-queue"),
            target));
  };
  EXPECT_TRUE(set("operator", queue_arn("secret")).denied());
  EXPECT_GE(set("operator", queue_arn("secret-fn!async")).status, 400);
  EXPECT_GE(set("root", queue_arn("secret-fn!async")).status, 400);
  EXPECT_EQ(set("operator", queue_arn("a-dlq")).status, 200);
}

// A journal of an earlier version may have such a policy: nothing is moved by it.
TEST_F(CasesTest, AnInternalQueueIsNoDeadLetterQueueWhateverTheJournalSays) {
  world_.make_queue("secret-fn!async");
  queue::QueueSettings settings;
  settings.redrive = queue::RedrivePolicy{queue_arn("secret-fn!async"), 1};
  world_.make_queue("a-old", settings);
  const std::string body = fmt::format(R"({{"QueueUrl":"{}","MessageBody":"x"}})", url("a-old"));
  ASSERT_EQ(world_.sqs("root", "SendMessage", body).status, 200);
  const std::string receive =
      fmt::format(R"({{"QueueUrl":"{}","VisibilityTimeout":0}})", url("a-old"));
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(world_.sqs("root", "ReceiveMessage", receive).has("\"Body\""));
  EXPECT_EQ(world_.messages_in("secret-fn!async"), 0u);
}

TEST_F(CasesTest, TheManagementApiHearsQueuePolicies) {
  queue::QueueSettings denying;
  denying.policy = kDenyAll;
  world_.make_queue("a-denied", denying);
  EXPECT_TRUE(world_.manage("operator", "GET", "queues/a-denied/messages").denied());
  EXPECT_TRUE(world_.manage("admin", "POST", "queues/a-denied/purge", R"({"confirm":"a-denied"})")
                  .denied());
  EXPECT_TRUE(
      world_.manage("root", "POST", "queues/a-denied/purge", R"({"confirm":"a-denied"})").denied());
}

TEST_F(CasesTest, AnotherAccountNeitherReadsNorDeletesABucket) {
  world_.make_bucket("home");
  const auto ask = [&](std::string_view who, std::string method, std::string path) {
    return world_.ask(who, {.api = Api::s3, .method = std::move(method), .path = std::move(path)});
  };
  EXPECT_EQ(ask("root", "PUT", "/home/k").status, 200);
  EXPECT_TRUE(ask("other", "GET", "/home/k").denied());
  EXPECT_TRUE(ask("other", "DELETE", "/home/k").denied());
  EXPECT_TRUE(ask("other", "DELETE", "/home").denied());
  EXPECT_EQ(ask("other", "PUT", "/home").status, 409);
  EXPECT_FALSE(ask("other", "GET", "/").has("home"));
  EXPECT_EQ(ask("root", "GET", "/home/k").status, 200);
  EXPECT_EQ(ask("other", "PUT", "/theirs").status, 200);
  EXPECT_TRUE(ask("root", "GET", "/theirs").denied());
  EXPECT_EQ(world_.buckets().bucket("theirs")->owner, kElsewhere);
}

TEST_F(CasesTest, TheOverviewShowsOnlyWhatTheKeyIsFor) {
  const Answer all = world_.manage("root", "GET", "overview");
  EXPECT_TRUE(all.has(R"("queueCount":3)")) << all.body;
  const Answer some = world_.manage("reader", "GET", "overview");
  EXPECT_TRUE(some.has(R"("queueCount":2)")) << some.body;
  EXPECT_FALSE(some.has("secret")) << some.body;
}

// A handle names the queue that the caller is authorised for and the task: they must belong
// together.
TEST_F(CasesTest, SecretsOfParametersAreNotForReadersAndListsShowOwnNamesOnly) {
  const auto ssm = [&](std::string_view who, std::string_view action, std::string body) {
    return world_.ask(who,
                      {.api = Api::ssm,
                       .body = std::move(body),
                       .headers = {{"Content-Type", "application/x-amz-json-1.1"},
                                   {"X-Amz-Target", fmt::format("AmazonSSM.{}", action)}}});
  };
  for (const char* name : {"a-token", "secret-token"}) {
    const Answer made =
        ssm("root",
            "PutParameter",
            fmt::format(R"({{"Name":"{}","Value":"hunter2","Type":"SecureString"}})", name));
    ASSERT_EQ(made.status, 200) << made.body;
  }
  const std::string open = R"({"Name":"a-token","WithDecryption":true})";
  EXPECT_TRUE(ssm("reader", "GetParameter", open).has("may not decrypt"));
  EXPECT_EQ(ssm("reader", "GetParameter", R"({"Name":"a-token"})").status, 200);
  EXPECT_NE(ssm("operator", "GetParameter", open).body.find("hunter2"), std::string::npos);
  const Answer listed = ssm("operator", "GetParametersByPath", R"({"Path":"/","Recursive":true})");
  EXPECT_NE(listed.body.find("a-token"), std::string::npos) << listed.body;
  EXPECT_EQ(listed.body.find("secret-token"), std::string::npos) << listed.body;
}

// Their queue is hidden, so they are reached through the function, by keys for the function.
TEST_F(CasesTest, DamagedEventsAreForKeysOfTheirFunction) {
  world_.make_function("a-fn");
  EXPECT_EQ(world_.manage("operator", "GET", "events/a-fn/damaged").status, 200);
  EXPECT_EQ(world_.manage("operator", "GET", "events/a-fn:live/damaged").status, 200);
  EXPECT_TRUE(world_.manage("operator", "GET", "events/secret-fn/damaged").denied());
  EXPECT_TRUE(world_.manage("operator", "GET", "events/secret-fn:a-x/damaged").denied());
  const std::string all = R"({"all":true})";
  EXPECT_TRUE(world_.manage("operator", "POST", "events/secret-fn/damaged/drop", all).denied());
  EXPECT_TRUE(world_.manage("reader", "POST", "events/a-fn/damaged/drop", all).denied());
  EXPECT_EQ(world_.manage("root", "GET", "events/a-none/damaged").status, 404);
  EXPECT_EQ(world_.manage("root", "GET", "queues/a-fn!async/damaged").status, 404);
}

TEST_F(CasesTest, AForgedTaskHandleCancelsNoOtherQueuesTask) {
  const Uuid id{{7}};
  world_.make_job("secret", id);
  const auto cancel = [&](std::string_view who, std::string_view queue) {
    const std::string handle = base64_encode(
        fmt::format(R"({{"taskId":"{}","sourceArn":"{}"}})", id.text(), queue_arn(queue)));
    return world_.sqs(
        who, "CancelMessageMoveTask", fmt::format(R"({{"TaskHandle":"{}"}})", handle));
  };
  EXPECT_GE(cancel("operator", "a-queue").status, 400);
  EXPECT_EQ(cancel("root", "secret").status, 200);
}

// Dead letters go back to the queues that they came from: these must be the caller's, too.
TEST_F(CasesTest, ARedriveGoesToNoQueueThatTheKeyIsNotFor) {
  queue::QueueSettings redriving;
  redriving.redrive = queue::RedrivePolicy{queue_arn("a-dlq"), 3};
  world_.make_queue("secret-source", redriving);
  const std::string body = fmt::format(R"({{"SourceArn":"{}"}})", queue_arn("a-dlq"));
  EXPECT_TRUE(world_.sqs("operator", "StartMessageMoveTask", body).denied());
  EXPECT_TRUE(world_.manage("operator", "POST", "queues/a-dlq/jobs", "{}").denied());
  const std::string policy = R"({"redriveAfterSeconds":60,"maxRedrives":3})";
  EXPECT_TRUE(world_.manage("operator", "PUT", "queues/a-dlq/policy", policy).denied());
  EXPECT_EQ(world_.sqs("root", "StartMessageMoveTask", body).status, 200);
}

}  // namespace
}  // namespace redrive::authorization
