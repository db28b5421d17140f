#include <set>
#include <thread>

#include "net/http/server.h"
#include "tests/functions/runtime/fixture.h"

namespace redrive::runtime {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Kind = Outcome::Kind;

// Runtimes other than Lambda's: commands, endpoints, and custom runtimes.
using CommandTest = InvokerTest;

TEST_F(CommandTest, EventGoesInResultComesOut) {
  const Outcome outcome = run(command("./reply.sh"), R"({"a": 1})");
  EXPECT_EQ(outcome.kind, Kind::done) << outcome.error_message << outcome.log;
  EXPECT_EQ(outcome.payload, R"({"a": 1})");
  EXPECT_THAT(outcome.log,
              HasSubstr("Version: $LATEST\na line of the log\nEND RequestId: id-1\nREPORT"));
  EXPECT_EQ(run(command("./reply.sh"), "not json\n").payload, "\"not json\"");
  EXPECT_EQ(run(command("true")).payload, "null");
}

TEST_F(CommandTest, FailureHasTheWordsOfTheCommand) {
  const Outcome words = run(command("./fail.sh"));
  EXPECT_EQ(words.error_type, "Command.ExitError");
  EXPECT_EQ(words.error_message, "Command exited with exit status 3: cannot reach the database");
  const Outcome document = run(command("./fail_with_document.sh"));
  EXPECT_EQ(document.error_type, "PaymentDeclined");
  EXPECT_EQ(document.error_message, "card expired");
  EXPECT_EQ(run(command("false")).error_message, "Command exited with exit status 1");
}

TEST_F(CommandTest, InputNeedNotBeRead) {
  const std::string event = "\"" + std::string(5'000'000, 'e') + "\"";
  EXPECT_EQ(run(command("./deaf.sh"), event).payload, "\"plain words\"");
  EXPECT_EQ(run(command("./reply.sh"), event).payload, event);
}

TEST_F(CommandTest, TimeAndOutputAreBounded) {
  FunctionSpec hanging = command("./hang.sh");
  hanging.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(run(hanging).error_type, "Sandbox.Timedout");
  FunctionSpec endless = command("yes");
  EXPECT_EQ(run(endless).error_type, "Function.ResponseSizeTooLarge");
}

TEST_F(CommandTest, NoSuchCommandIsAFailure) {
  const Outcome outcome = run(command("./nowhere.sh"));
  EXPECT_NE(outcome.kind, Kind::done);
  EXPECT_THAT(outcome.error_message, HasSubstr("nowhere.sh"));
}

TEST_F(CommandTest, CommandsRunSideBySide) {
  options_.processes_max = 2;
  options_.queue_time_max = std::chrono::seconds(30);
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 10; ++i) all.push_back(begin(command("./reply.sh"), std::to_string(i)));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(get(all[static_cast<std::size_t>(i)]).payload, std::to_string(i));
}

TEST_F(CommandTest, CustomRuntimeSpeaksTheApi) {
  FunctionSpec function = python("my.handler");
  function.runtime = "provided.al2023";
  function.code = root_ / "handlers/provided";
  const Outcome outcome = run(function, "{}");
  EXPECT_EQ(outcome.kind, Kind::done) << outcome.error_message << outcome.log;
  EXPECT_EQ(field(outcome.payload, "early"), R"([403,"InvalidStateTransition"])");
  EXPECT_EQ(field(outcome.payload, "wrong"), R"([400,"InvalidRequestID"])");
  EXPECT_EQ(field(outcome.payload, "late_init"), R"([403,"InvalidStateTransition"])");
  EXPECT_EQ(field(outcome.payload, "handler"), "my.handler");
  const Outcome second = run(function, "{}");
  EXPECT_THAT(second.log, StartsWith("answers 202 [400, 'InvalidRequestID']\nSTART"));
  const Outcome failed =
      run(function, R"({"fail":{"errorType":"Mine","errorMessage":"m","stackTrace":["a","b"]}})");
  EXPECT_EQ(failed.error_type, "Mine");
  EXPECT_EQ(failed.stack, "a\nb");
}

TEST_F(CommandTest, EventSurvivesALostConnection) {
  FunctionSpec function = python("");
  function.runtime = "provided.al2023";
  function.code = root_ / "handlers/forgetful";
  const Outcome outcome = run(function, R"({"n":1})");
  EXPECT_EQ(outcome.kind, Kind::done) << outcome.error_message << outcome.log;
  EXPECT_EQ(field(outcome.payload, "same"), "true");
  EXPECT_EQ(field(outcome.payload, "event"), R"({"n":1})");
}

// An endpoint on its own thread.
class HttpTest : public InvokerTest {
 protected:
  void SetUp() override {
    InvokerTest::SetUp();
    options_.outgoing = std::make_shared<http::OutgoingPolicy>(
        *http::OutgoingPolicy::parse(std::vector<std::string>{"loopback"}));
    auto started = http::Server::start(
        {}, {.handle = [](http::Exchange& exchange) { answer(exchange); }, .round_ended = {}});
    ASSERT_TRUE(started);
    server_ = std::move(*started);
  }
  static void answer(http::Exchange& exchange) {
    const std::string_view path = exchange.request().path;
    const int status = path == "/busy" || path == "/typed" ? 503 : 200;
    const std::size_t mark = http::begin_response(exchange.out(), {.status = status});
    if (path == "/busy") exchange.out() += "come back later";
    if (path == "/typed")
      exchange.out() += R"({"errorType":"OutOfStock","errorMessage":"none left"})";
    if (path == "/echo") exchange.out() += exchange.request().body;
    if (path == "/id") exchange.out() += exchange.request().header("lambda-runtime-aws-request-id");
    http::end_response(exchange.out(), mark);
    exchange.reply(0);
  }
  FunctionSpec endpoint(const std::string& path) const {
    FunctionSpec function = python("");
    function.runtime = "http";
    function.code.clear();
    function.url = "http://127.0.0.1:" + std::to_string(server_->port()) + path;
    return function;
  }
  std::unique_ptr<http::Server> server_;
};

TEST_F(HttpTest, EndpointIsAFunction) {
  const Outcome outcome = run(endpoint("/echo"), R"({"a":1})");
  EXPECT_EQ(outcome.kind, Kind::done) << outcome.error_message;
  EXPECT_EQ(outcome.payload, R"({"a":1})");
  EXPECT_THAT(outcome.log, StartsWith("START RequestId: id-1"));
  EXPECT_EQ(run(endpoint("/id")).payload, "\"id-2\"");
  EXPECT_EQ(run(endpoint("/nothing")).payload, "null");
}

TEST_F(HttpTest, StatusIsTheError) {
  const Outcome busy = run(endpoint("/busy"));
  EXPECT_EQ(busy.error_type, "Http.Status503");
  EXPECT_EQ(busy.error_message, "HTTP status 503: come back later");
  EXPECT_EQ(run(endpoint("/typed")).error_type, "OutOfStock");
  FunctionSpec nobody = endpoint("/");
  nobody.url = "http://127.0.0.1:1/";
  EXPECT_EQ(run(nobody).error_type, "Http.ConnectionError");
  EXPECT_EQ(invoker().stats(nobody.arn).errors, 3u);
}

TEST_F(HttpTest, UrlsOfThisMachineNeedPermission) {
  options_.outgoing = std::make_shared<http::OutgoingPolicy>();
  const Outcome outcome = run(endpoint("/echo"), "{}");
  EXPECT_EQ(outcome.error_type, "Http.ConnectionError");
  EXPECT_THAT(outcome.error_message, testing::HasSubstr("[outgoing] allow"));
}

TEST_F(HttpTest, ManyCallsAtOnce) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 20; ++i) all.push_back(begin(endpoint("/echo"), std::to_string(i)));
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(get(all[static_cast<std::size_t>(i)]).payload, std::to_string(i));
}

}  // namespace
}  // namespace redrive::runtime
