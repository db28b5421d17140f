#include "tests/functions/runtime/fixture.h"

namespace redrive::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;
using Kind = Outcome::Kind;

using NodeTest = InvokerTest;

TEST_F(NodeTest, EveryFormOfHandlerAnswers) {
  EXPECT_EQ(run(node("index.echo"), R"({"a":["ü",1]})").payload, R"({"a":["ü",1]})");
  EXPECT_EQ(run(node("index.callback"), R"({"n":3})").payload, R"({"got":3})");
  EXPECT_EQ(run(node("index.syncValue"), "1").payload, "null") << "no promise, no callback";
  EXPECT_EQ(run(node("index.deep.inside.handler")).payload, "\"found\"");
}

TEST_F(NodeTest, ModulesOfBothKindsLoad) {
  FunctionSpec function = node("index.handler");
  function.code = root_ / "handlers/node_module";
  EXPECT_EQ(run(function, "5").payload, R"({"answer":42,"ready":true,"event":5})");
  function.handler = function.revision = "old.handler";
  EXPECT_EQ(run(function).payload, "\"from cjs\"");
}

TEST_F(NodeTest, ProcessIsKeptWarmAndContextIsComplete) {
  run(node("index.about"));
  const std::string about = run(node("index.about")).payload;
  EXPECT_EQ(field(about, "id"), "id-2");
  EXPECT_EQ(field(about, "name"), "orders");
  EXPECT_EQ(field(about, "arn"), node("").arn);
  EXPECT_EQ(field(about, "memory"), "256");
  EXPECT_EQ(field(about, "group"), "/aws/lambda/orders");
  EXPECT_GT(std::stoi(field(about, "remaining")), 10'000);
  EXPECT_EQ(invoker().stats(node("").arn).cold_starts, 1u);
}

TEST_F(NodeTest, CallbackMayWaitForWhatIsLeft) {
  const Outcome waits = run(node("index.lingers"), R"({"waits":true})");
  EXPECT_EQ(waits.payload, "\"answered\"");
  EXPECT_THAT(waits.log, HasSubstr("late work"));
  const Outcome leaves = run(node("index.lingers"), R"({"waits":false})");
  EXPECT_EQ(leaves.payload, "\"answered\"");
  EXPECT_THAT(leaves.log, testing::Not(HasSubstr("late work")));
}

TEST_F(NodeTest, ErrorsAreToldAsLambdaTellsThem) {
  const Outcome thrown = run(node("index.rejects"), R"({"customer":7})");
  EXPECT_EQ(thrown.kind, Kind::function_error);
  EXPECT_EQ(thrown.error_type, "OrderRejected");
  EXPECT_EQ(thrown.error_message, "no such customer: 7");
  EXPECT_THAT(
      thrown.stack,
      AllOf(StartsWith("OrderRejected: no such customer: 7\n    at "), HasSubstr("index.js")));
  EXPECT_THAT(field(thrown.payload, "trace"), StartsWith("[\"OrderRejected:"));
  EXPECT_FALSE(thrown.fatal);
  EXPECT_EQ(run(node("index.callbackError")).error_type, "TypeError");
  const Outcome text = run(node("index.throwsText"));
  EXPECT_EQ(text.error_type, "string");
  EXPECT_EQ(text.error_message, "plain words");
  EXPECT_EQ(run(node("index.cyclic")).error_type, "Runtime.MarshalError");
  EXPECT_EQ(run(node("index.huge"), R"({"bytes":7000000})").error_type,
            "Function.ResponseSizeTooLarge");
}

TEST_F(NodeTest, TheLogHasTheErrorAsLambdaWritesIt) {
  const Outcome thrown = run(node("index.failsWithCode"));
  EXPECT_THAT(
      thrown.log,
      HasSubstr("\tERROR\tInvoke Error \t{\"errorType\":\"Error\",\"errorMessage\":\"refused\","
                "\"code\":\"ECONNREFUSED\",\"stack\":[\"Error: refused\",\"    at "));
  EXPECT_THAT(thrown.log, testing::Not(HasSubstr("\"trace\"")));
  EXPECT_THAT(run(node("index.failsInACircle")).log, HasSubstr("\"stack\":[\"Error: round\""));
}

TEST_F(NodeTest, CausesFollowTheStack) {
  const Outcome thrown = run(node("index.failsWithCauses"));
  EXPECT_EQ(thrown.error_type, "OrderError");
  EXPECT_THAT(thrown.stack,
              MatchesRegex("OrderError: cannot load\n    at (.|\n)*\n"
                           "Caused by: TypeError: no price\n    at (.|\n)*\nCaused by: gone"));
  EXPECT_THAT(field(thrown.payload, "cause"), HasSubstr("no price"));
}

TEST_F(NodeTest, CodeLiesWhereLambdaHasIt) {
  for (const auto sandbox : {InvokerOptions::Sandbox::automatic, InvokerOptions::Sandbox::off}) {
    options_.sandbox = sandbox;
    invoker_.reset();
    const Outcome thrown = run(node("index.failsWithCode"));
    EXPECT_THAT(thrown.stack, HasSubstr("(/var/task/index.js:"));
    EXPECT_THAT(thrown.log, HasSubstr("(/var/task/index.js:"));
    const Outcome logged = run(node("index.logsError"));
    EXPECT_THAT(logged.log, HasSubstr("(/var/task/index.js:"));
    for (const LogLine& line : invoker().logs(node("").arn, 0, 100))
      EXPECT_THAT(line.text, testing::Not(HasSubstr("handlers/node/"))) << line.text;
  }
}

TEST_F(NodeTest, ErrorsOfRecordsAreReported) {
  const Outcome all = run(node("index.failsForAllRecords"));
  EXPECT_EQ(all.error_type, "FullBatchFailureError");
  EXPECT_THAT(
      field(all.payload, "recordErrors"),
      AllOf(StartsWith("[{\"errorType\":\"TypeError\",\"errorMessage\":\"of a\",\"trace\":["),
            HasSubstr("{\"errorType\":\"RangeError\",\"errorMessage\":\"of b\"")));
}

TEST_F(NodeTest, WhatNobodyCatchesEndsTheProcess) {
  const Outcome uncaught = run(node("index.uncaught"));
  EXPECT_EQ(uncaught.error_type, "RangeError");
  EXPECT_EQ(uncaught.error_message, "out of nowhere");
  const Outcome unhandled = run(node("index.unhandled"));
  EXPECT_EQ(unhandled.error_type, "Runtime.UnhandledPromiseRejection");
  EXPECT_EQ(unhandled.error_message, "Error: nobody waits");
  EXPECT_EQ(run(node("index.uncaught")).error_type, "RangeError") << "a fresh process serves";
}

TEST_F(NodeTest, EveryWayNotToStartHasItsName) {
  options_.queue_time_max = kPatience;  // A failed process may be slow to exit.
  const std::pair<std::string, std::string> cases[] = {
      {"missing.handler", "Runtime.ImportModuleError"},
      {"broken_import.handler", "Runtime.ImportModuleError"},
      {"broken_syntax.handler", "Runtime.UserCodeSyntaxError"},
      {"index.missing", "Runtime.HandlerNotFound"},
      {"index.notAFunction", "Runtime.HandlerNotFound"},
      {"index", "Runtime.MalformedHandlerName"},
  };
  for (const auto& [handler, type] : cases) {
    const Outcome outcome = run(node(handler));
    EXPECT_EQ(outcome.kind, Kind::function_error);
    EXPECT_EQ(outcome.error_type, type) << handler << outcome.log;
  }
}

TEST_F(NodeTest, ConsoleIsTheLog) {
  const Outcome outcome = run(node("index.prints"), R"({"n":1})");
  EXPECT_THAT(
      outcome.log,
      MatchesRegex(
          "START RequestId: id-1 Version: \\$LATEST\n"
          "[-0-9T:.]*Z\tid-1\tINFO\thello \\{ n: 1 \\}\n"
          "[-0-9T:.]*Z\tid-1\tERROR\tand an error\nraw\nEND RequestId: id-1\nREPORT(.|\n)*"));
}

TEST_F(NodeTest, OutputIsWrittenBeforeAnythingElseIsDone) {
  const testing::Matcher<const std::string&> ends =
      MatchesRegex("(.|\n)*ERROR\tthe last word\nEND RequestId: id-[12]\nREPORT [^\n]*\n");
  EXPECT_TRUE(testing::Matches(ends)(run(node("index.floods")).log));
  const Outcome gone = run(node("index.floods"), R"({"exit":3})");
  EXPECT_EQ(gone.error_type, "Runtime.ExitError");
  EXPECT_TRUE(testing::Matches(ends)(gone.log));
}

TEST_F(NodeTest, AFullHeapIsAFullMemory) {
  FunctionSpec function = node("index.leaks");
  function.memory_mb = 512;
  EXPECT_EQ(run(function).error_type, "Runtime.OutOfMemory");
}

TEST_F(NodeTest, LargeEventArrivesWhole) {
  const std::string event = "\"" + std::string(6'000'000, 'e') + "\"";
  EXPECT_EQ(run(node("index.echo"), event).payload, event);
}

}  // namespace
}  // namespace redrive::runtime
