#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "cli/client/retry.h"
#include "tests/cli/fake_world.h"

namespace redrive::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kSendQueue = "http://127.0.0.1:9324/000000000000/orders";
constexpr const char* kMessageIds = "00000000-0000-4000-8000-0000000000";
constexpr const char* kSendMd5 = "5d41402abc4b2a76b9719d911017c592";

std::string accepted(std::size_t id) {
  return fmt::format(R"({{"Id":"{}","MessageId":"{}{:02}","MD5OfMessageBody":"{}"}})",
                     id,
                     kMessageIds,
                     id,
                     kSendMd5);
}

std::string failed(std::size_t id, bool sender_fault) {
  return fmt::format(R"({{"Id":"{}","SenderFault":{},"Code":"{}","Message":"why"}})",
                     id,
                     sender_fault,
                     sender_fault ? "InvalidParameterValue" : "InternalError");
}

// The number of entries in a SendMessageBatch request, and their bodies.
std::vector<std::string> bodies_in(const std::string& request) {
  simdjson::dom::parser parser;
  std::vector<std::string> bodies;
  for (const auto entry : parser.parse(request)["Entries"].get_array()) {
    bodies.emplace_back(std::string_view(entry["MessageBody"]));
  }
  return bodies;
}

Result<http::ClientResponse> accept_all(const std::string& request) {
  std::string list;
  for (std::size_t i = 0; i < bodies_in(request).size(); ++i) {
    list += (i > 0 ? "," : "") + accepted(i);
  }
  return http::ClientResponse{.status = 200, .body = R"({"Successful":[)" + list + "]}"};
}

struct SendTest : testing::Test {
  FakeWorld world;
  FakeServer& server = world.server;

  void accept() { server.handle("SendMessageBatch", accept_all); }
  std::vector<std::string> requests() { return server.bodies("SendMessageBatch"); }
};

TEST_F(SendTest, MapsItsArguments) {
  accept();
  world.environment.files["body.txt"] = "from\na file";
  world.environment.files["bin"] = std::string("\0\xff", 2);
  const struct {
    std::vector<std::string> arguments;
    const char* entry;
  } cases[] = {
      {{"hello"}, R"({"Id":"0","MessageBody":"hello"})"},
      {{"[1,2]"}, R"({"Id":"0","MessageBody":"[1,2]"})"},
      {{"--", "-5"}, R"({"Id":"0","MessageBody":"-5"})"},
      {{"--file", "body.txt"}, R"({"Id":"0","MessageBody":"from\na file"})"},
      {{"b", "--delay", "9"}, R"({"Id":"0","MessageBody":"b","DelaySeconds":9})"},
      {{"--attribute", "n:Number=5", "--attribute", "c=blue", "--attribute", "b:Binary=@bin", "hi"},
       R"({"Id":"0","MessageBody":"hi","MessageAttributes":{"n":{"StringValue":"5","DataType":"Number"},"c":{"StringValue":"blue","DataType":"String"},"b":{"BinaryValue":"AP8=","DataType":"Binary"}}})"},
      {{"b", "--group", "g", "--dedup", "d"},
       R"({"Id":"0","MessageBody":"b","MessageDeduplicationId":"d","MessageGroupId":"g"})"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.entry);
    server.calls.clear();
    std::vector<std::string> arguments = {"send", kSendQueue};
    arguments.insert(arguments.end(), test.arguments.begin(), test.arguments.end());
    const Outcome outcome = world.run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, std::string(kMessageIds) + "00\n");
    EXPECT_THAT(
        requests(),
        ElementsAre(fmt::format(R"({{"QueueUrl":"{}","Entries":[{}]}})", kSendQueue, test.entry)));
  }
}

// A JSON encoder would replace it: the queue would get something else than the file contains.
TEST_F(SendTest, SendsNoTextThatIsNotUtf8) {
  accept();
  const Outcome outcome = world.run({"send", kSendQueue, "caf\xe9"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("not valid UTF-8"));
  world.in.str(R"({"Body":"half \ud800"})");
  EXPECT_NE(world.run({"send", kSendQueue, "--ndjson"}).exit_code, 0);
  EXPECT_THAT(requests(), SizeIs(0));
  EXPECT_EQ(world.run({"send", kSendQueue, "b", "--attribute", "a:Binary=\xff"}).exit_code, 0);
}

TEST_F(SendTest, SendsLinesInBatchesOfTen) {
  accept();
  for (int i = 0; i < 25; ++i) world.in.str(world.in.str() + fmt::format("line {}\n\n", i));
  const Outcome outcome = world.run({"send", kSendQueue});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "25 messages sent\n");
  EXPECT_THAT(requests(), SizeIs(3));
  std::vector<std::string> bodies;
  for (const auto& request : requests()) {
    for (auto& body : bodies_in(request)) bodies.push_back(std::move(body));
  }
  std::sort(bodies.begin(), bodies.end());
  EXPECT_THAT(bodies, SizeIs(25));
  EXPECT_EQ(std::unique(bodies.begin(), bodies.end()), bodies.end());
}

// Four concurrent connections would reorder messages.
TEST_F(SendTest, KeepsTheOrderForFifoQueues) {
  accept();
  std::vector<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    expected.push_back(fmt::format("m{}", i));
    world.in.str(world.in.str() + expected.back() + "\n");
  }
  EXPECT_EQ(world.run({"send", std::string(kSendQueue) + ".fifo", "--group", "g"}).exit_code, 0);
  std::vector<std::string> bodies;
  for (const auto& request : requests()) {
    for (auto& body : bodies_in(request)) bodies.push_back(std::move(body));
  }
  EXPECT_EQ(bodies, expected);
}

TEST_F(SendTest, RepeatsAMessage) {
  accept();
  const Outcome outcome =
      world.run({"send", kSendQueue, "x", "--repeat", "32", "--concurrency", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 32);
  EXPECT_THAT(requests(), SizeIs(4));
}

TEST_F(SendTest, ReadsNdjsonAndFillsInFromTheCommandLine) {
  accept();
  world.in.str("{\"Body\":\"a\",\"MessageGroupId\":\"own\"}\n{\"Body\":\"b\"}\n");
  EXPECT_EQ(world.run({"send", kSendQueue, "--ndjson", "--group", "g"}).exit_code, 0);
  EXPECT_THAT(
      requests(),
      ElementsAre(fmt::format(
          R"({{"QueueUrl":"{}","Entries":[{{"Id":"0","MessageBody":"a","MessageGroupId":"own"}},{{"Id":"1","MessageBody":"b","MessageGroupId":"g"}}]}})",
          kSendQueue)));
}

TEST_F(SendTest, NamesTheLineItCannotRead) {
  accept();
  world.in.str("{\"Body\":\"a\"}\n\nnonsense\n");
  const Outcome outcome = world.run({"send", kSendQueue, "--ndjson"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("redrive: line 3: a line is not a JSON object\n"));
}

TEST_F(SendTest, RefusesContradictions) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"send", kSendQueue, "x", "--file", "f"},
           {"send", kSendQueue, "x", "--ndjson"},
           {"send", kSendQueue, "--file", "missing"},
           {"send", kSendQueue, "x", "--delay", "901"},
           {"send", kSendQueue, "x", "--repeat", "0"},
           {"send", kSendQueue, "x", "--attribute", "a:Text=1"},
           {"send"},
       }) {
    SCOPED_TRACE(testing::PrintToString(arguments));
    EXPECT_EQ(world.run(arguments).exit_code, 2);
  }
  EXPECT_TRUE(server.calls.empty());
}

TEST_F(SendTest, RetriesOnlyWhatTheServiceFailedAt) {
  server.answer("SendMessageBatch",
                R"({"Successful":[)" + accepted(0) + R"(],"Failed":[)" + failed(1, false) + "," +
                    failed(2, true) + "]}");
  accept();
  world.in.str("good\nunlucky\nbad\n");
  const Outcome outcome = world.run({"send", kSendQueue});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(requests(), SizeIs(2));
  EXPECT_THAT(bodies_in(requests().at(1)), ElementsAre("unlucky"));
  EXPECT_EQ(outcome.err,
            "redrive: InvalidParameterValue: message 3: why\n"
            "1 of 3 messages were not accepted\n");
  EXPECT_THAT(world.pauses, SizeIs(1));
}

TEST_F(SendTest, RetriesRequestsThatGotNoAnswer) {
  server.drop("SendMessageBatch");
  server.answer("SendMessageBatch", R"({"__type":"x#ServiceUnavailable","message":"m"})", 503);
  server.answer("SendMessageBatch", R"({"__type":"x#RequestThrottled","message":"m"})", 403);
  accept();
  const Outcome outcome = world.run({"send", kSendQueue, "x"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(requests(), SizeIs(4));
  ASSERT_THAT(world.pauses, SizeIs(3));
  EXPECT_GE(world.pauses[2], Backoff::kFirst * 2);
}

TEST_F(SendTest, GivesUpInTheEnd) {
  server.answer("SendMessageBatch", R"({"Failed":[)" + failed(0, false) + "]}");
  const Outcome entry = world.run({"send", kSendQueue, "x"});
  EXPECT_EQ(entry.exit_code, 1);
  EXPECT_THAT(requests(), SizeIs(static_cast<std::size_t>(Backoff::kAttemptsMax)));
  EXPECT_EQ(entry.err,
            "redrive: InternalError: message 1: why\n1 of 1 messages were not accepted\n");
}

TEST_F(SendTest, StopsWhenTheWholeRequestIsRefused) {
  server.answer(
      "SendMessageBatch",
      R"({"__type":"x#QueueDoesNotExist","message":"The specified queue does not exist."})",
      400);
  const Outcome outcome =
      world.run({"send", kSendQueue, "x", "--repeat", "1000", "--concurrency", "1"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(requests(), SizeIs(1));
  EXPECT_THAT(outcome.err,
              HasSubstr("redrive: QueueDoesNotExist: The specified queue does not exist.\n"));
}

// A response without an entry proves nothing about it.
TEST_F(SendTest, TakesSilenceForARefusal) {
  server.answer("SendMessageBatch", "{}");
  const Outcome outcome = world.run({"send", kSendQueue, "x"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("1 of 1 messages were not accepted"));
}

TEST_F(SendTest, PrintsJsonLinesNumberedAsTheInput) {
  accept();
  world.in.str("a\nb\n");
  EXPECT_EQ(world.run({"send", kSendQueue, "--json"}).out,
            fmt::format("{{\"Id\":\"1\",\"MessageId\":\"{0}00\",\"MD5OfMessageBody\":\"{1}\"}}\n"
                        "{{\"Id\":\"2\",\"MessageId\":\"{0}01\",\"MD5OfMessageBody\":\"{1}\"}}\n",
                        kMessageIds,
                        kSendMd5));
}

TEST_F(SendTest, DrawsProgressOnlyOnATerminal) {
  server.handle("SendMessageBatch", [this](const std::string& request) {
    world.clock.advance(std::chrono::seconds(1));
    return accept_all(request);
  });
  const std::vector<std::string> arguments = {
      "send", kSendQueue, "x", "--repeat", "20", "--concurrency", "1"};
  EXPECT_EQ(world.run(arguments).err, "20 messages sent\n");
  world.world.terminal.err_is_terminal = true;
  EXPECT_THAT(world.run(arguments).err,
              HasSubstr("\r\x1b[K[################..............]  55%  11 sent"));
}

}  // namespace
}  // namespace redrive::cli
