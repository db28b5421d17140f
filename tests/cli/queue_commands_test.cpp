#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/fake_world.h"

// The `redrive queue` commands: their requests and their output.

namespace redrive::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kMissing =
    R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"The specified queue does not exist."})";

struct QueueCommands : testing::Test {
  FakeWorld world;
  FakeServer& server = world.server;

  void SetUp() override {
    server.answer("CreateQueue", R"({"QueueUrl":"http://h:1/000000000000/orders"})");
    for (const char* action : {"SetQueueAttributes", "PurgeQueue", "DeleteQueue"}) {
      server.answer(action, "");
    }
  }
  void queue_exists() {
    server.answer("GetQueueUrl", R"({"QueueUrl":"http://h:1/000000000000/orders"})");
  }
};

TEST_F(QueueCommands, CreateMapsItsArguments) {
  const struct {
    std::vector<std::string> arguments;
    const char* body;
  } cases[] = {
      {{"orders"}, R"({"QueueName":"orders"})"},
      {{"orders", "--fifo"}, R"({"QueueName":"orders.fifo","Attributes":{"FifoQueue":"true"}})"},
      {{"orders.fifo"}, R"({"QueueName":"orders.fifo","Attributes":{"FifoQueue":"true"}})"},
      {{"--attribute",
        "DelaySeconds=5",
        "--attribute",
        "Policy={\"a\":\"b=c\"}",
        "orders",
        "--tag",
        "team=a",
        "--tag",
        "e="},
       R"({"QueueName":"orders","Attributes":{"DelaySeconds":"5","Policy":"{\"a\":\"b=c\"}"},"tags":{"team":"a","e":""}})"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.body);
    server.calls.clear();
    std::vector<std::string> arguments = {"queue", "create"};
    arguments.insert(arguments.end(), test.arguments.begin(), test.arguments.end());
    const Outcome outcome = world.run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "http://h:1/000000000000/orders\n");
    EXPECT_THAT(server.bodies("CreateQueue"), ElementsAre(test.body));
  }
}

TEST_F(QueueCommands, CreateMakesAMissingDeadLetterQueueAndSaysSo) {
  server.answer("GetQueueUrl", kMissing, 400);
  server.answer("GetQueueAttributes", R"({"Attributes":{"QueueArn":"arn:aws:sqs:r:0:dlq.fifo"}})");
  const Outcome outcome =
      world.run({"queue", "create", "orders.fifo", "--dlq", "dlq", "--max-receives", "7"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "also created the dead-letter queue dlq.fifo\n");
  EXPECT_THAT(
      server.bodies("CreateQueue"),
      ElementsAre(
          R"({"QueueName":"dlq.fifo","Attributes":{"MessageRetentionPeriod":"1209600","FifoQueue":"true"}})",
          R"({"QueueName":"orders.fifo","Attributes":{"FifoQueue":"true","RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:r:0:dlq.fifo\",\"maxReceiveCount\":7}"}})"));
}

TEST_F(QueueCommands, CreateLeavesAnExistingDeadLetterQueueAlone) {
  queue_exists();
  server.answer("GetQueueAttributes", R"({"Attributes":{"QueueArn":"arn:x"}})");
  const Outcome outcome = world.run({"queue", "create", "orders", "--dlq", "dlq"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(server.bodies("CreateQueue").size(), 1u);
  EXPECT_THAT(server.bodies("CreateQueue").at(0), HasSubstr(R"(\"maxReceiveCount\":3)"));
}

TEST_F(QueueCommands, ListFollowsPagesAndAligns) {
  server.answer("ListQueues", R"({"QueueUrls":["http://h/0/a"],"NextToken":"t"})");
  server.answer("ListQueues", R"({"QueueUrls":["http://h/0/gone","http://h/0/orders-long"]})");
  server.answer(
      "GetQueueAttributes",
      R"({"Attributes":{"ApproximateNumberOfMessages":"5","ApproximateNumberOfMessagesNotVisible":"0","ApproximateNumberOfMessagesDelayed":"1"}})");
  server.answer("GetQueueAttributes", kMissing, 400);
  server.answer(
      "GetQueueAttributes",
      R"({"Attributes":{"ApproximateNumberOfMessages":"12345","ApproximateNumberOfMessagesNotVisible":"10","ApproximateNumberOfMessagesDelayed":"0","RedrivePolicy":"{\"deadLetterTargetArn\":\"arn:aws:sqs:r:0:a\",\"maxReceiveCount\":\"4\"}"}})");
  const Outcome outcome = world.run({"queue", "ls", "or"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "NAME         VISIBLE  IN FLIGHT  DELAYED  DEAD-LETTER QUEUE\n"
            "a                  5          0        1\n"
            "orders-long    12345         10        0  a (after 4)\n");
  EXPECT_THAT(server.bodies("ListQueues"),
              ElementsAre(R"({"QueueNamePrefix":"or","MaxResults":1000})",
                          R"({"QueueNamePrefix":"or","MaxResults":1000,"NextToken":"t"})"));
}

TEST_F(QueueCommands, ListPrintsADocumentALine) {
  server.answer("ListQueues", R"({"QueueUrls":["http://h/0/a","http://h/0/b"]})");
  server.answer("GetQueueAttributes", R"({"Attributes":{"DelaySeconds":"0"}})");
  const Outcome outcome = world.run({"queue", "ls", "--json"});
  EXPECT_EQ(outcome.out,
            "{\"QueueUrl\":\"http://h/0/a\",\"Attributes\":{\"DelaySeconds\":\"0\"}}\n"
            "{\"QueueUrl\":\"http://h/0/b\",\"Attributes\":{\"DelaySeconds\":\"0\"}}\n");
}

TEST_F(QueueCommands, ListOfNothingIsNotAnError) {
  server.answer("ListQueues", "{}");
  const Outcome outcome = world.run({"queue", "ls"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "no queues\n");
}

TEST_F(QueueCommands, ShowPrintsEverything) {
  queue_exists();
  server.answer("GetQueueAttributes",
                R"({"Attributes":{"VisibilityTimeout":"30","CreatedTimestamp":"1767268800"}})");
  server.answer("ListQueueTags", R"({"Tags":{"team":"a"}})");
  server.answer("ListDeadLetterSourceQueues", R"({"queueUrls":["http://h/0/src"]})");
  const Outcome outcome = world.run({"queue", "show", "orders"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "Queue\n"
            "  orders  http://h:1/000000000000/orders\n"
            "Attributes\n"
            "  CreatedTimestamp   1767268800 (2026-01-01 12:00:00 UTC)\n"
            "  VisibilityTimeout  30\n"
            "Tags\n"
            "  team  a\n"
            "Dead-letter queue of\n"
            "  src  http://h/0/src\n");
  EXPECT_EQ(
      world.run({"queue", "show", "orders", "--json"}).out,
      R"({"QueueUrl":"http://h:1/000000000000/orders","Attributes":{"VisibilityTimeout":"30","CreatedTimestamp":"1767268800"},"Tags":{"team":"a"},"DeadLetterSourceQueueUrls":["http://h/0/src"]})"
      "\n");
}

TEST_F(QueueCommands, SetSendsAllAttributesAtOnce) {
  queue_exists();
  const Outcome outcome = world.run({"queue", "set", "orders", "DelaySeconds=5", "Policy="});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "changed orders\n");
  EXPECT_THAT(
      server.bodies("SetQueueAttributes"),
      ElementsAre(
          R"({"QueueUrl":"http://h:1/000000000000/orders","Attributes":{"DelaySeconds":"5","Policy":""}})"));
}

TEST_F(QueueCommands, DestroyOnlyWithPermission) {
  const struct {
    const char* name;
    std::vector<std::string> arguments;
    bool terminal;
    const char* typed;
    int exit_code;
    std::size_t requests;
  } cases[] = {
      {"yes typed", {"queue", "purge", "orders"}, true, "y\n", 0, 1},
      {"no typed", {"queue", "purge", "orders"}, true, "n\n", 1, 0},
      {"nothing typed", {"queue", "purge", "orders"}, true, "", 1, 0},
      {"told beforehand", {"queue", "purge", "orders", "--yes"}, true, "", 0, 1},
      {"nobody to ask", {"queue", "purge", "orders"}, false, "y\n", 2, 0},
      {"nobody to ask, told beforehand", {"queue", "purge", "-y", "orders"}, false, "", 0, 1},
  };
  queue_exists();
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    server.calls.clear();
    world.in.clear();
    world.in.str(test.typed);
    world.world.terminal.in_is_terminal = test.terminal;
    EXPECT_EQ(world.run(test.arguments).exit_code, test.exit_code);
    EXPECT_EQ(server.bodies("PurgeQueue").size(), test.requests);
  }
}

TEST_F(QueueCommands, RemoveFindsAllBeforeDeletingAny) {
  queue_exists();
  server.answer("GetQueueUrl", kMissing, 400);
  Outcome outcome = world.run({"queue", "rm", "--yes", "orders", "slip"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "redrive: QueueDoesNotExist: no queue slip\n");
  EXPECT_TRUE(server.bodies("DeleteQueue").empty());

  outcome = world.run({"queue", "rm", "--yes", "http://localhost/0/a", "http://localhost/0/b"});
  EXPECT_EQ(outcome.out, "deleted a\ndeleted b\n");
  EXPECT_THAT(server.bodies("DeleteQueue"),
              ElementsAre(R"({"QueueUrl":"http://localhost/0/a"})",
                          R"({"QueueUrl":"http://localhost/0/b"})"));
}

TEST_F(QueueCommands, NameAQueueInThreeWays) {
  queue_exists();
  world.run({"queue", "purge", "-y", "orders"});
  world.run({"queue", "purge", "-y", "arn:aws:sqs:us-east-1:111122223333:orders"});
  EXPECT_THAT(server.bodies("GetQueueUrl"),
              ElementsAre(R"({"QueueName":"orders"})",
                          R"({"QueueName":"orders","QueueOwnerAWSAccountId":"111122223333"})"));
  world.run({"queue", "purge", "-y", "http://localhost:5/1/orders"});
  EXPECT_EQ(server.calls.back().request.url, "http://localhost:5/");
  EXPECT_EQ(server.calls.back().request.body, R"({"QueueUrl":"http://localhost:5/1/orders"})");
  EXPECT_EQ(world.run({"queue", "purge", "-y", "arn:aws:sns:r:1:x"}).exit_code, 2);
}

TEST_F(QueueCommands, MisuseEndsWithTwoAndAHint) {
  const struct {
    std::vector<std::string> arguments;
    const char* err;
  } cases[] = {
      {{"queue", "create"}, "Try: redrive queue create --help\n"},
      {{"queue"}, "Try: redrive queue --help\n"},
      {{"queue", "create", "x", "--max-receives", "5"}, "Try: redrive queue create --help\n"},
      {{"queue", "create", "x", "--dlq", "d", "--max-receives", "0"},
       "Try: redrive queue create --help\n"},
      {{"queue", "create", "x", "--attribute", "novalue"}, "Try: redrive queue create --help\n"},
      {{"queue", "ls", "--endpoint-url", "nonsense"}, "Try: redrive queue ls --help\n"},
      {{"queue", "ls", "--endpoint-url", "http://far.example"}, "Try: redrive queue ls --help\n"},
      {{"queue", "ls", "--profile", "nobody"}, "Try: redrive queue ls --help\n"},
      {{"nonsense"}, "Try: redrive --help\n"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(testing::PrintToString(test.arguments));
    const Outcome outcome = world.run(test.arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr(test.err));
    EXPECT_TRUE(outcome.err.starts_with("redrive: ")) << outcome.err;
  }
  EXPECT_TRUE(server.calls.empty());
}

TEST_F(QueueCommands, DamagedMessagesAreListedPageByPage) {
  const std::string message =
      R"("state":"damaged","queueArn":"arn:aws:sqs:r:0:orders","error":"torn","foundAt":"2026-01-01T00:00:00Z",)"
      R"("expiresAt":"2026-01-15T00:00:00Z","segment":3,"offset":640,"size":99,"receiveCount":2})";
  const std::string page = R"({"now":"2026-01-01T00:00:00Z","total":2,"messages":[{"key":)";
  server.answer("GET /_redrive/v1/queues/orders/damaged?after=",
                page + "17," + message + R"(],"next":"1-17"})");
  server.answer("GET /_redrive/v1/queues/orders/damaged?after=1-17", page + "18," + message + "]}");
  const Outcome listed = world.run({"queue", "damaged", "ls", "orders"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  for (const char* text : {"17", "18", "unknown", "0000000003.seg", "640", "torn"}) {
    EXPECT_THAT(listed.out, HasSubstr(text));
  }
}

TEST_F(QueueCommands, DamagedMessagesAreDroppedAndRetried) {
  server.answer("POST /_redrive/v1/queues/orders/damaged/drop", R"({"messages":2,"more":true})");
  server.answer("POST /_redrive/v1/queues/orders/damaged/drop", R"({"messages":1,"more":false})");
  EXPECT_EQ(world.run({"queue", "damaged", "drop", "orders", "--all", "--yes"}).out,
            "3 damaged messages dropped\n");
  server.answer("POST /_redrive/v1/queues/orders/damaged/retry",
                R"({"restored":1,"stillDamaged":2,"next":"5-6"})");
  server.answer("POST /_redrive/v1/queues/orders/damaged/retry",
                R"({"restored":0,"stillDamaged":1})");
  EXPECT_EQ(world.run({"queue", "damaged", "retry", "orders", "--all"}).out,
            "1 restored, 3 still damaged\n");
  EXPECT_THAT(server.bodies("POST /_redrive/v1/queues/orders/damaged/retry"),
              ElementsAre(R"({"all":true})", R"({"all":true,"after":"5-6"})"));
  server.calls.clear();
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"queue", "damaged", "retry", "orders"},
        {"queue", "damaged", "drop", "orders", "7", "--all", "--yes"},
        {"queue", "damaged", "drop", "orders", "seven", "--yes"}}) {
    EXPECT_EQ(world.run(wrong).exit_code, 2);
  }
  EXPECT_TRUE(server.calls.empty());
}

TEST_F(QueueCommands, DamagedEventsOfFunctionsHaveTheSameVerbs) {
  server.answer("GET /_redrive/v1/events/resize%3Alive/damaged?after=",
                R"({"now":"2026-01-01T00:00:00Z","total":0,"messages":[]})");
  EXPECT_THAT(world.run({"function", "damaged", "ls", "resize:live"}).err,
              HasSubstr("no damaged events"));
  server.answer("POST /_redrive/v1/events/resize/damaged/drop", R"({"messages":1,"more":false})");
  EXPECT_EQ(world.run({"function", "damaged", "drop", "resize", "17", "--yes"}).out,
            "1 damaged event dropped\n");
  server.answer("POST /_redrive/v1/events/resize/damaged/retry",
                R"({"restored":1,"stillDamaged":0})");
  EXPECT_EQ(world.run({"function", "damaged", "retry", "resize", "--all"}).out,
            "1 restored, 0 still damaged\n");
}

TEST_F(QueueCommands, HelpIsNotAnError) {
  const Outcome outcome = world.run({"queue", "create", "--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("--max-receives"));
}

TEST_F(QueueCommands, ErrorsOfTheServiceEndWithOne) {
  server.answer("ListQueues", R"({"__type":"x#AccessDenied","message":"No \u001b[31mway."})", 403);
  const Outcome denied = world.run({"queue", "ls"});
  EXPECT_EQ(denied.exit_code, 1);
  EXPECT_EQ(denied.err, "redrive: AccessDenied: No \\x1b[31mway.\n");

  server.drop("GetQueueUrl");
  const Outcome nobody = world.run({"queue", "show", "orders"});
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_EQ(nobody.err,
            "redrive: no server at http://127.0.0.1:9324; start one with: redrive serve\n");
}

}  // namespace
}  // namespace redrive::cli
