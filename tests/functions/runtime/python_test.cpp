#include "tests/functions/runtime/fixture.h"

namespace redrive::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using Kind = Outcome::Kind;

using PythonTest = InvokerTest;

TEST_F(PythonTest, ResultComesBack) {
  const Outcome outcome = run(python("cases.echo"), R"({"Records":[{"body":"x"}]})");
  EXPECT_EQ(outcome.kind, Kind::done) << outcome.error_message << outcome.log;
  EXPECT_EQ(outcome.payload, R"({"Records": [{"body": "x"}]})");
  EXPECT_FALSE(outcome.fatal);
  EXPECT_GT(outcome.duration.count(), 0);
  EXPECT_EQ(run(python("cases.nothing")).payload, "null");
}

TEST_F(PythonTest, TextOfAllKindsSurvives) {
  const Outcome outcome = run(python("cases.unicode"), R"({"text":"Grüße 🦊\u0000"})");
  EXPECT_EQ(field(outcome.payload, "length"), "8");
  EXPECT_EQ(field(outcome.payload, "text"), std::string("Grüße 🦊\0", 13));
}

// {"n": "1"}, after a text that it could refer to.
const std::string kMarshalled{
    ")\2)\1\xfa\1x{z\1nz\0011"
    "0",
    15};
std::string json_of_marshalled(std::string_view text) {
  return text == kMarshalled ? R"({"n":"1"})" : "\"strange\"";
}
constexpr Payload::Format kMarshal{.name = "marshal", .json = json_of_marshalled};

TEST_F(PythonTest, EventsMayBeMarshalled) {
  EXPECT_EQ(run(python("cases.echo"), Payload(kMarshalled, kMarshal)).payload, R"({"n": "1"})");
  EXPECT_EQ(run(python("cases.echo"), R"({"n":2})").payload, R"({"n": 2})");
}

TEST_F(PythonTest, WhoReadsOnlyJsonGetsJson) {
  EXPECT_EQ(run(node("index.echo"), Payload(kMarshalled, kMarshal)).payload, R"({"n":"1"})");
  EXPECT_EQ(run(command("./reply.sh"), Payload(kMarshalled, kMarshal)).payload, R"({"n":"1"})");
}

// Whatever it looks like.
TEST_F(PythonTest, WhatIsNotSaidToBeMarshalledIsNotRead) {
  const Outcome outcome = run(python("cases.echo"), kMarshalled);
  EXPECT_EQ(outcome.error_type, "Runtime.UnmarshalError") << outcome.payload;
}

TEST_F(PythonTest, ProcessIsKeptWarm) {
  const Outcome first = run(python("cases.count"));
  const Outcome second = run(python("cases.count"));
  EXPECT_EQ(field(second.payload, "calls"), "2");
  EXPECT_EQ(field(first.payload, "pid"), field(second.payload, "pid"));
  const FunctionStats stats = invoker().stats(python("").arn);
  EXPECT_EQ(stats.cold_starts, 1u);
  EXPECT_EQ(stats.invocations, 2u);
}

TEST_F(PythonTest, ContextIsComplete) {
  trace_ = "Root=1-5759e988-bd862e3fe1be46a994272793";
  client_context_ = "{\"custom\":{\"a\":1},\n\"env\":{}}";
  const std::string about = run(python("cases.about")).payload;
  EXPECT_EQ(field(about, "aws_request_id"), "id-1");
  EXPECT_EQ(field(about, "function_name"), "orders");
  EXPECT_EQ(field(about, "function_version"), "$LATEST");
  EXPECT_EQ(field(about, "invoked_function_arn"), python("").arn);
  EXPECT_EQ(field(about, "memory_limit_in_mb"), "256");
  EXPECT_EQ(field(about, "log_group_name"), "/aws/lambda/orders");
  EXPECT_THAT(field(about, "log_stream_name"),
              MatchesRegex(R"(..../../../\[\$LATEST\][0-9a-f]{32})"));
  const int remaining = std::stoi(field(about, "remaining"));
  EXPECT_TRUE(remaining > 10'000 && remaining <= 20'000) << remaining;
  EXPECT_EQ(field(about, "custom"), R"({"a":1})");
  EXPECT_EQ(field(about, "trace"), trace_);
}

TEST_F(PythonTest, EnvironmentIsLambdasAndTheUsers) {
  ::setenv("SERVER_SECRET", "x", 1);
  FunctionSpec function = python("cases.environment");
  function.environment = {
      {"TABLE", "orders"}, {"AWS_ENDPOINT_URL", "http://127.0.0.1:1"}, {"_HANDLER", "no"}};
  const std::string environment = run(function).payload;
  EXPECT_EQ(field(environment, "TABLE"), "orders");
  EXPECT_EQ(field(environment, "AWS_ENDPOINT_URL"), "http://127.0.0.1:1");
  EXPECT_EQ(field(environment, "_HANDLER"), "cases.environment");
  EXPECT_EQ(field(environment, "AWS_REGION"), "us-east-1");
  EXPECT_EQ(field(environment, "AWS_EXECUTION_ENV"), "AWS_Lambda_python3.11");
  EXPECT_EQ(field(environment, "AWS_LAMBDA_INITIALIZATION_TYPE"), "on-demand");
  // Nothing of the server's own environment.
  EXPECT_EQ(field(environment, "SERVER_SECRET"), "<missing>");
}

TEST_F(PythonTest, ExceptionIsToldAsLambdaTellsIt) {
  const Outcome outcome = run(python("cases.rejects"), R"({"customer":7})");
  EXPECT_EQ(outcome.kind, Kind::function_error);
  EXPECT_EQ(outcome.error_type, "OrderRejected");
  EXPECT_EQ(outcome.error_message, "no such customer: 7");
  EXPECT_FALSE(outcome.fatal);
  EXPECT_EQ(field(outcome.payload, "requestId"), "id-1");
  EXPECT_THAT(outcome.stack,
              AllOf(HasSubstr("cases.py\", line"),
                    HasSubstr("in rejects"),
                    HasSubstr("in check"),
                    Not(HasSubstr("bootstrap"))));
  EXPECT_THAT(outcome.log, HasSubstr("[ERROR] OrderRejected: no such customer: 7\nTraceback"));
  run(python("cases.rejects"), R"({"customer":8})");
  EXPECT_EQ(invoker().stats(python("").arn).errors, 2u);
  EXPECT_EQ(invoker().stats(python("").arn).cold_starts, 1u) << "the process goes on";
}

TEST_F(PythonTest, CausesFollowTheStack) {
  const Outcome outcome = run(python("failures.chained"), R"({"deep":false})");
  EXPECT_EQ(outcome.error_type, "OrderError");
  EXPECT_THAT(outcome.stack,
              MatchesRegex("  File \"/var/task/failures.py\", line [0-9]+, in chained\n(.|\n)*\n"
                           "Caused by: ValueError: invalid literal[^\n]*\n"
                           "  File \"/var/task/failures.py\", line [0-9]+, in chained\n(.|\n)*"
                           "in load\n    return int\\(text\\)"));
  const Outcome deep = run(python("failures.chained"), R"({"deep":true})");
  EXPECT_EQ(deep.error_message, "level 0");
  for (const char* kept : {"Caused by: OrderError: level 1\n", "Caused by: OrderError: level 9\n"})
    EXPECT_THAT(deep.stack, HasSubstr(kept));
  EXPECT_THAT(deep.stack, Not(HasSubstr("level 4")));
}

TEST_F(PythonTest, StacksAreThoseOfLambda) {
  for (const auto sandbox : {InvokerOptions::Sandbox::automatic, InvokerOptions::Sandbox::off}) {
    options_.sandbox = sandbox;
    invoker_.reset();
    const Outcome outcome = run(python("failures.chained"), R"({"deep":false})");
    EXPECT_THAT(outcome.stack, AllOf(HasSubstr("\"/var/task/failures.py\""), Not(HasSubstr("^"))));
    EXPECT_THAT(outcome.log, AllOf(HasSubstr("\"/var/task/failures.py\""), Not(HasSubstr("^"))));
    const Outcome logged = run(python("failures.logs"));
    EXPECT_THAT(logged.log, HasSubstr("\"/var/task/failures.py\""));
  }
}

// Like Powertools' BatchProcessor, which is not installed on test machines.
TEST_F(PythonTest, ErrorsOfRecordsAreReported) {
  const std::string event =
      R"({"Records":[{"messageId":"a"},{"messageId":"b"},{"messageId":"c"}]})";
  const Outcome all = run(python("failures.all_records"), event);
  EXPECT_EQ(all.error_type, "BatchProcessingError");
  EXPECT_THAT(
      field(all.payload, "recordErrors"),
      AllOf(HasSubstr("\"errorMessage\":\"of a\""), HasSubstr("\"errorMessage\":\"of c\"")));
  const Outcome some = run(python("failures.some_records"), event);
  EXPECT_EQ(some.kind, Kind::done);
  EXPECT_THAT(
      field(some.payload, "batchItemFailures"),
      MatchesRegex(
          R"(\[\{"itemIdentifier":"a","errorType":"KeyError",.*of a.*/var/task/failures.py.*"itemIdentifier":"c".*\])"));
  EXPECT_EQ(run(python("failures.some_records"), R"({"Records":[]})").payload,
            R"({"batchItemFailures": []})");
  EXPECT_THAT(field(run(python("failures.group"), event).payload, "errors"), HasSubstr("of b"));
}

struct InitCase {
  std::string handler;
  std::string type;
  std::string message;
};

TEST_F(PythonTest, EveryWayNotToStartHasItsName) {
  options_.queue_time_max = kPatience;  // A failed process may be slow to exit.
  for (const InitCase& c : {
           InitCase{"no_such.handler",
                    "Runtime.ImportModuleError",
                    "Unable to import module 'no_such': No module named 'no_such'"},
           {"broken_import.handler",
            "Runtime.ImportModuleError",
            "Unable to import module 'broken_import': No module named 'no_such_module_anywhere'"},
           {"broken_syntax.handler",
            "Runtime.UserCodeSyntaxError",
            "Syntax error in module 'broken_syntax': expected ':' (broken_syntax.py, line 1)"},
           {"cases.missing",
            "Runtime.HandlerNotFound",
            "Handler 'missing' missing on module 'cases'"},
           {"cases",
            "Runtime.MalformedHandlerName",
            "Bad handler 'cases': not enough values to unpack (expected 2, got 1)"},
           {"raises_at_load.handler", "KeyError", "'TABLE'"},
           {"exits_at_load.handler",
            "Runtime.ExitError",
            "RequestId: id-7 Error: Runtime exited with error: exit status 3"},
       }) {
    FunctionSpec function = python(c.handler);
    function.revision = c.handler;
    const Outcome outcome = run(function);
    EXPECT_EQ(outcome.kind, Kind::function_error) << c.handler;
    EXPECT_EQ(outcome.error_type, c.type);
    EXPECT_EQ(outcome.error_message, c.message);
    EXPECT_THAT(outcome.log, HasSubstr("INIT_REPORT"));
    if (c.type == "KeyError") {
      EXPECT_THAT(outcome.log, HasSubstr("loading\n"));
      EXPECT_THAT(outcome.stack, AllOf(HasSubstr("in configure"), Not(HasSubstr("importlib"))));
      EXPECT_EQ(field(outcome.payload, "requestId"), "");
    }
  }
}

TEST_F(PythonTest, InitThatTakesTooLongIsATimeout) {
  options_.init_time_max = std::chrono::milliseconds(200);
  FunctionSpec function = python("slow_load.handler");
  function.timeout = std::chrono::milliseconds(100);
  const Outcome outcome = run(function);
  EXPECT_EQ(outcome.error_type, "Sandbox.Timedout");
}

// A former cycle that could not be encoded is no longer one.
TEST_F(PythonTest, CirclesAreFoundAndForgotten) {
  const FunctionSpec circles = python("cases.circles");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(circles, R"({"close":true})").error_message,
              "Unable to marshal response: Circular reference detected");
    EXPECT_EQ(run(circles, R"({"close":false})").payload, R"([{"kept": []}, {"kept": []}])");
  }
}

TEST_F(PythonTest, ResultsThatCannotTravel) {
  const Outcome set = run(python("cases.returns_set"));
  EXPECT_EQ(set.error_type, "Runtime.MarshalError");
  EXPECT_EQ(set.error_message,
            "Unable to marshal response: Object of type set is not JSON serializable");
  EXPECT_EQ(run(python("cases.echo"), "no json").error_type, "Runtime.UnmarshalError");
  const FunctionSpec huge = python("cases.huge");
  for (const char* const bytes : {"7000000", "80000000"}) {
    const Outcome outcome = run(huge, std::string(R"({"bytes":)") + bytes + "}");
    EXPECT_EQ(outcome.error_type, "Function.ResponseSizeTooLarge") << bytes;
    EXPECT_EQ(outcome.error_message,
              "Response payload size exceeded maximum allowed payload size (6291556 bytes).");
  }
  const Outcome large = run(huge, R"({"bytes":6291554})");
  EXPECT_EQ(large.kind, Kind::done) << large.payload.substr(0, 300);
  EXPECT_EQ(large.payload.size(), kPayloadBytesMax);
}

TEST_F(PythonTest, LargeEventArrivesWhole) {
  const std::string event = "\"" + std::string(6'000'000, 'e') + "\"";
  EXPECT_EQ(run(python("cases.echo"), event).payload, event);
}

TEST_F(PythonTest, LogHasItsLines) {
  const Outcome outcome = run(python("cases.prints"), R"({"n":5})");
  EXPECT_THAT(
      outcome.log,
      MatchesRegex("START RequestId: id-1 Version: \\$LATEST\nfirst line\nto stderr\n"
                   "\\[WARNING\\]\t[-0-9T:.]*Z\tid-1\tcareful 5\nEND RequestId: id-1\n"
                   "REPORT RequestId: id-1\tDuration: [0-9.]* ms\tBilled Duration: [0-9]* ms\t"
                   "Memory Size: 256 MB\tMax Memory Used: [1-9][0-9]* MB\t"
                   "Init Duration: [0-9.]* ms\t\n"));
  run(python("cases.prints"), R"({"n":6})");
  const auto lines = invoker().logs(python("").arn, 0, 100);
  ASSERT_EQ(lines.size(), 12u);
  EXPECT_EQ(lines[1].text, "first line");
  EXPECT_EQ(lines[1].request_id, "id-1");
  EXPECT_EQ(lines[11].request_id, "id-2");
  EXPECT_EQ(lines[0].sequence, 1u);
  const auto rest = invoker().logs(python("").arn, lines[9].sequence, 100);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[1].text, lines[11].text);
  EXPECT_EQ(invoker().logs(python("").arn, 0, 3).size(), 3u);
}

TEST_F(PythonTest, FloodOfOutputLosesItsMiddle) {
  FunctionSpec function = python("cases.floods");
  function.timeout = std::chrono::seconds(60);
  const Outcome outcome = run(function);
  EXPECT_EQ(outcome.payload, "\"done\"");
  EXPECT_LE(outcome.log.size(), kLogBytesMax);
  EXPECT_THAT(outcome.log,
              AllOf(HasSubstr("START RequestId"),
                    HasSubstr("bytes omitted"),
                    HasSubstr("the last line\nEND RequestId")));
  std::size_t bytes = 0;
  for (const auto& line : invoker().logs(function.arn, 0, 1'000'000)) bytes += line.text.size();
  EXPECT_LE(bytes, 1u << 20);
}

}  // namespace
}  // namespace redrive::runtime
