#include <gtest/gtest.h>

#include "stack/stack.h"

namespace redrive::stack {
namespace {

Result<Stack> read_shop(std::string_view toml) {
  const Surroundings around{.stack_name = "shop",
                            .account = "123456789012",
                            .region = "eu-west-1",
                            .endpoint = "http://127.0.0.1:9324",
                            .directory = "/project",
                            .parameters = {}};
  const auto root = read_toml(toml);
  if (!root) return std::unexpected(root.error());
  return read_topology(*root, around);
}

std::string listed(const Stack& stack) {
  std::string out;
  for (const Resource& resource : stack.resources) {
    out += resource.title() + " " + resource.properties.json() + "\n";
  }
  return out;
}

TEST(TopologyFile, SaysInFewWordsWhatTheApisSayInMany) {
  const auto stack = read_shop(R"(
listen = "127.0.0.1:9324"       # The server's own, like the next two.
[limits]
connections = 10
[[dead-letters]]
queues = ["*"]

[[queue]]
name = "orders"
dlq = "orders-dlq"
max-receives = 5
visibility-timeout = "2m"
[[queue]]
name = "orders-dlq"
retention = "14d"
redrive-allow = ["orders"]
[[queue]]
name = "steps"
fifo = true
content-based-deduplication = true

[[function]]
name = "worker"
runtime = "python3.11"
handler = "index.handler"
code = "src"
environment = { LIMIT = 5 }
retries = 1
on-failure = "orders-dlq"
[[function]]
name = "echo"
runtime = "command"
command = ["cat"]

[[mapping]]
queue = "orders"
function = "worker"
batch-size = 5
isolate-retries = false
report-item-failures = true
filters = [{ body = { kind = ["a"] } }]
retry = [{ errors = ["Timeout"], attempts = 0 }]

[[bucket]]
name = "archive"
[[alarm]]
name = "dead"
queue = "orders-dlq"
)");
  ASSERT_TRUE(stack.has_value()) << stack.error().message;
  EXPECT_EQ(listed(*stack),
            R"(bucket archive {}
queue orders-dlq {"MessageRetentionPeriod":"1209600","RedriveAllowPolicy":"{\"redrivePermission\":\"byQueue\",\"sourceQueueArns\":[\"arn:aws:sqs:eu-west-1:123456789012:orders\"]}"}
queue orders {"VisibilityTimeout":"120","RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:eu-west-1:123456789012:orders-dlq\",\"maxReceiveCount\":5}"}
queue steps.fifo {"ContentBasedDeduplication":"true","FifoQueue":"true"}
function worker {"Handler":"index.handler","Runtime":"python3.11","Role":"arn:aws:iam::123456789012:role/redrive","Environment":{"Variables":{"LIMIT":"5"}}}
function echo {"Command":["cat"],"Runtime":"command","Role":"arn:aws:iam::123456789012:role/redrive"}
invocation of worker {"MaximumRetryAttempts":1,"DestinationConfig":{"OnFailure":{"Destination":"arn:aws:sqs:eu-west-1:123456789012:orders-dlq"}}}
mapping orders → worker {"EventSourceArn":"arn:aws:sqs:eu-west-1:123456789012:orders","FunctionName":"worker","BatchSize":5,"IsolateRetries":false,"FunctionResponseTypes":["ReportBatchItemFailures"],"FilterCriteria":{"Filters":[{"Pattern":"{\"body\":{\"kind\":[\"a\"]}}"}]},"RetryPolicy":[{"MaxAttempts":0,"ErrorEquals":["Timeout"]}]}
alarm dead {"Namespace":"AWS/SQS","MetricName":"ApproximateNumberOfMessagesVisible","Dimensions":[{"Name":"QueueName","Value":"orders-dlq"}],"Statistic":"Maximum","ComparisonOperator":"GreaterThanThreshold","Threshold":0,"Period":60,"EvaluationPeriods":1}
)");
}

// One file may hold both: the settings of the server are none of ours.
TEST(TopologyFile, EverySectionOfTheServerIsPassedOver) {
  for (const std::string_view section : {"limits",
                                         "alarms",
                                         "metrics",
                                         "traces",
                                         "outgoing",
                                         "functions",
                                         "masking",
                                         "console",
                                         "clock",
                                         "settled",
                                         "audit"}) {
    const auto stack = read_shop("[" + std::string(section) + "]\nsetting = 1\n");
    ASSERT_TRUE(stack) << stack.error().message;
    EXPECT_TRUE(stack->resources.empty());
  }
}

TEST(TopologyFile, MistakesAreNamed) {
  const struct {
    const char* toml;
    const char* message;
  } cases[] = {
      {"[[queu]]\nname = 'a'", "unknown table queu"},
      {"[queue]\nname = 'a'", "expected [[queue]] tables"},
      {"[[queue]]", "a queue without a name"},
      {"[[queue]]\nname = 'a'\nvisibilty = 3", "queue a has no setting visibilty"},
      {"[[queue]]\nname = 'a'\nretention = '3 weeks'", "invalid value of retention: \"3 weeks\""},
      {"[[queue]]\nname = 'a'\nmax-receives = 3", "max-receives requires dlq"},
      {"[[queue]]\nname = 'a'\nredrive-allow = 'some'", "redrive-allow must be"},
      {"[[queue]]\nname = 'a'\n[[queue]]\nname = 'a'", "queue a is defined twice"},
      {"[[queue]]\nname = 'a'\ndlq = 'a'", "form a loop"},
      {"[[function]]\nname = 'f'", "has no code"},
      {"[[mapping]]\nqueue = 'q'", "a queue and a function"},
      {"[[queue]\n", "line 1"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.toml);
    const auto stack = read_shop(each.toml);
    ASSERT_FALSE(stack.has_value());
    EXPECT_NE(stack.error().message.find(each.message), std::string::npos) << stack.error().message;
  }
}

}  // namespace
}  // namespace redrive::stack
