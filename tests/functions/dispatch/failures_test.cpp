// Messages whose handler failed.

#include <gmock/gmock.h>

#include "tests/functions/dispatch/dispatch_world.h"

namespace redrive::dispatch {
namespace {

struct Failures : DispatchWorld {
  functions::Mapping with_retriers(std::vector<functions::Retrier> retriers) {
    auto made = mapping();
    made.retriers = std::move(retriers);
    return made;
  }
  // Expects the next run after exactly this delay.
  void expect_again_after(Duration delay) {
    pass(delay - Duration(1));
    EXPECT_TRUE(running().empty()) << "too early";
    pass(Duration(1));
    EXPECT_EQ(running().size(), 1u);
  }
  std::string first_document(const std::string& queue) {
    const Bodies bodies = in(queue);
    return bodies.empty() ? "" : bodies[0];
  }
};

// As on AWS: the queue's visibility timeout, counted from the receive.
TEST_F(Failures, WaitOutTheVisibilityTimeout) {
  send("m");
  start(mapping());
  pass(seconds(2));
  answer(raised());
  expect_again_after(seconds(28));
  EXPECT_NE(invoker.calls[0].event().find(R"("ApproximateReceiveCount":"2")"), std::string::npos);
}

TEST_F(Failures, AreRecordedWithTheirReason) {
  send("m");
  start(mapping());
  answer(raised("KeyError", "'id'"));
  const queue::ErrorText* error = last_error("orders");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->type, "KeyError");
  EXPECT_EQ(error->message, "'id'");
  EXPECT_EQ(error->stack, "  File \"app.py\", line 3, in handler");
  EXPECT_EQ(error->log, "START\nEND\n");
}

TEST_F(Failures, EndInTheDeadLetterQueueByItsRule) {
  world.create("twice", with_dlq(2));
  send("m", "twice");
  start(mapping("twice"));
  answer(raised());
  expect_again_after(seconds(30));
  answer(raised());
  pass(seconds(30));
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(in("dead"), Bodies{"m"});
  ASSERT_NE(last_error("dead"), nullptr);
}

// If a window does not fit into the queue's timeout, AWS uses a longer one.
TEST_F(Failures, AWindowMakesTheTimeoutLonger) {
  define_function("f", seconds(25));
  send("m");
  auto made = mapping();
  made.window = seconds(10);
  start(made);
  pass(seconds(10));
  answer(raised());
  pass(seconds(54));
  EXPECT_TRUE(running().empty());
  pass(seconds(11));  // 65 s after the receive, plus its window.
  EXPECT_EQ(running().size(), 1u);
}

TEST_F(Failures, ReportedItemsComeBackAndOthersAreDone) {
  for (const char* body : {"a", "b", "c"}) world.send("orders", body);
  auto made = mapping();
  made.report_item_failures = true;
  start(made);
  const std::string id = invoker.calls[0].ids()[1];
  answer(returned(R"({"batchItemFailures":[{"itemIdentifier":")" + id + R"("}]})"));
  EXPECT_EQ(in("orders"), Bodies{"b"});
  EXPECT_EQ(last_error("orders")->type, "BatchItemFailure");
  expect_again_after(seconds(30));
  answer(returned("{}"));
  EXPECT_EQ(in("orders"), Bodies());
}

TEST_F(Failures, ReportedItemsMaySayWhy) {
  for (const char* body : {"a", "b", "c"}) world.send("orders", body);
  auto made = mapping();
  made.report_item_failures = true;
  start(made);
  const auto ids = invoker.calls[0].ids();
  answer(returned(
      R"({"batchItemFailures":[{"itemIdentifier":")" + ids[1] +
      R"(","errorType":"KeyError","errorMessage":"'sku'","stackTrace":["  File \"a.py\", line 3, in f\n"],"cause":{"errorType":"IOError","errorMessage":"gone"}}]})"));
  const queue::ErrorText* error = last_error("orders");
  EXPECT_EQ(error->type, "KeyError");
  EXPECT_EQ(error->message, "'sku'");
  EXPECT_EQ(error->stack, "  File \"a.py\", line 3, in f\nCaused by: IOError: gone");
}

TEST_F(Failures, ReportedItemsAreExplainedByTheLog) {
  world.send("orders", "a");
  auto made = mapping();
  made.report_item_failures = true;
  start(made);
  const std::string id = invoker.calls[0].ids()[0];
  auto outcome = returned(R"({"batchItemFailures":[{"itemIdentifier":")" + id + R"("}]})");
  outcome.log = "[ERROR] order " + id +
                "\nTraceback (most recent call last):\n  File \"/var/task/a.py\", line 1, in f\n"
                "KeyError: 'sku'\n";
  answer(outcome);
  EXPECT_EQ(last_error("orders")->type, "KeyError");
  EXPECT_EQ(last_error("orders")->message, "'sku'");
  EXPECT_EQ(last_error("orders")->stack, "  File \"/var/task/a.py\", line 1, in f");
  EXPECT_EQ(last_error("orders")->log, outcome.log);
}

// An error reported for a message may match a retrier by either name; an error from the log is only
// informational.
TEST_F(Failures, RetriersKnowReportedItemsByBothNames) {
  const auto document = [&](const std::string& more) {
    return R"({"batchItemFailures":[{"itemIdentifier":")" + invoker.calls.back().ids()[0] + "\"" +
           more + "}]}";
  };
  auto made = with_retriers(
      {{.error_equals = {"Soft"}, .interval_seconds = 5, .max_attempts = 9},
       {.error_equals = {"BatchItemFailure"}, .interval_seconds = 50, .max_attempts = 9}});
  made.report_item_failures = true;
  start(made);
  send("m");
  answer(returned(document(R"(,"errorType":"Soft")")));
  expect_again_after(seconds(5));
  answer(returned(document(R"(,"errorType":"Hard")")));
  expect_again_after(seconds(50));
  auto logged = returned(document(""));
  logged.log = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nSoft: x\n";
  answer(logged);
  EXPECT_EQ(last_error("orders")->type, "Soft");
  expect_again_after(seconds(100));  // Its second retry.
}

// Powertools' FullBatchFailureError: one error per record. Bisecting the batch would reveal nothing
// more.
TEST_F(Failures, ARaisedErrorMayCarryOneForEachMessage) {
  for (const char* body : {"a", "b"}) world.send("orders", body);
  auto made = mapping();
  made.bisect = true;
  start(made);
  auto outcome = raised("FullBatchFailureError", "All records failed processing.");
  outcome.payload =
      R"({"errorType":"FullBatchFailureError","recordErrors":[{"errorType":"TypeError","errorMessage":"of a"},{"errorType":"RangeError","errorMessage":"of b"}]})";
  answer(outcome);
  EXPECT_TRUE(running().empty());
  const auto page = world.dead_letters().peek.page(identity_of("orders"), {}, 10);
  ASSERT_EQ(page->messages.size(), 2u);
  std::vector<std::string> types;
  for (const auto& message : page->messages) types.push_back(message.errors.back().type);
  EXPECT_THAT(types, testing::ElementsAre("TypeError", "RangeError"));
}

TEST_F(Failures, AnAnswerThatNamesOthersFailsTheBatch) {
  for (const char* body : {"a", "b"}) world.send("orders", body);
  auto made = mapping();
  made.report_item_failures = true;
  start(made);
  answer(returned(R"({"batchItemFailures":[{"itemIdentifier":"nobody"}]})"));
  EXPECT_EQ(in("orders"), (Bodies{"a", "b"}));
  EXPECT_EQ(last_error("orders")->type, "InvalidBatchResponse");
}

TEST_F(Failures, RetriersDecideByError) {
  start(with_retriers({{.error_equals = {"Soft"}, .interval_seconds = 5, .max_attempts = 2},
                       {.error_equals = {"Slow"}, .interval_seconds = 100, .max_attempts = 9}}));
  send("m");
  answer(raised("Soft"));
  expect_again_after(seconds(5));
  answer(raised("Slow"));
  expect_again_after(seconds(100));
  answer(raised("Soft"));
  expect_again_after(seconds(10));
  answer(raised("Soft"));
  EXPECT_EQ(in("orders"), Bodies());
  EXPECT_EQ(in("dead"), Bodies{"m"});
  EXPECT_EQ(last_error("dead")->type, "Soft");
}

TEST_F(Failures, RetriersCountAcrossRestarts) {
  const auto made =
      with_retriers({{.error_equals = {"States.ALL"}, .interval_seconds = 5, .max_attempts = 2}});
  start(made);
  send("m");
  answer(raised());
  expect_again_after(seconds(5));
  answer(raised());
  restart();
  pass(seconds(10));
  ASSERT_EQ(running().size(), 1u);
  answer(raised());
  EXPECT_EQ(in("dead"), Bodies{"m"});
}

TEST_F(Failures, NoAttemptsMeanStraightToTheDeadLetterQueue) {
  start(with_retriers({{.error_equals = {"Fatal"}, .max_attempts = 0},
                       {.error_equals = {"States.ALL"}, .interval_seconds = 7}}));
  send("m");
  answer(raised("Fatal"));
  EXPECT_EQ(in("dead"), Bodies{"m"});
  send("n");
  answer(raised("Other"));
  expect_again_after(seconds(7));
}

// As without retriers: after the visibility timeout, and as often as the queue allows.
TEST_F(Failures, AnErrorNoRetrierNamesIsTheQueuesAffair) {
  start(with_retriers({{.error_equals = {"Soft"}, .interval_seconds = 7}}));
  send("m");
  answer(raised("Other"));
  EXPECT_EQ(in("dead"), Bodies{});
  expect_again_after(seconds(30));
  answer(raised("Soft"));
  expect_again_after(seconds(7));
}

// Without a dead-letter queue and a destination a message stays where it is.
TEST_F(Failures, WhatHasNowhereToGoStays) {
  world.create("plain");
  auto made = mapping("plain");
  made.retriers = {{.error_equals = {"States.ALL"}, .max_attempts = 0}};
  made.retries_max = 0;
  start(made);
  send("m", "plain");
  answer(raised());
  EXPECT_EQ(in("plain"), Bodies{"m"});
  expect_again_after(seconds(30));
}

// A receive lasts at most twelve hours; a retrier may need longer.
TEST_F(Failures, DelaysMayBeLongerThanAReceive) {
  start(with_retriers(
      {{.error_equals = {"States.ALL"}, .interval_seconds = 100'000, .max_attempts = 1}}));
  send("m");
  answer(raised());
  pass(seconds(99'999));
  EXPECT_TRUE(running().empty());
  pass(seconds(2));
  EXPECT_EQ(running().size(), 1u);
}

TEST_F(Failures, RetriesHaveAMaximum) {
  auto made = mapping();
  made.retries_max = 1;
  start(made);
  send("m");
  answer(raised());
  expect_again_after(seconds(30));
  answer(raised());
  EXPECT_EQ(in("dead"), Bodies{"m"});
}

TEST_F(Failures, GoToTheirDestinationWithARecord) {
  world.create("failed");
  auto made = mapping();
  made.retries_max = 0;
  made.on_failure = identity_of("failed").arn();
  start(made);
  send("m");
  answer(raised());
  EXPECT_EQ(in("orders"), Bodies());
  EXPECT_EQ(in("dead"), Bodies());
  const std::string record = first_document("failed");
  simdjson::dom::parser parser;
  const simdjson::dom::element document = parser.parse(record);
  EXPECT_EQ(std::string_view(document.at_pointer("/requestContext/condition")),
            "RetryAttemptsExhausted");
  EXPECT_EQ(std::int64_t(document.at_pointer("/requestContext/approximateInvokeCount")), 1);
  EXPECT_EQ(std::string_view(document.at_pointer("/payload/Records/0/body")), "m");
  EXPECT_EQ(std::string_view(document.at_pointer("/SQSBatchInfo/queueArn")),
            identity_of("orders").arn());
}

TEST_F(Failures, SuccessHasADestinationToo) {
  world.create("done");
  auto made = mapping();
  made.on_success = identity_of("done").arn();
  start(made);
  send("m");
  answer(returned("[1]"));
  EXPECT_EQ(in("orders"), Bodies());
  EXPECT_NE(first_document("done").find(R"("condition":"Success")"), std::string::npos);
}

// A missing destination must not lose the message.
TEST_F(Failures, WhatCannotBeDeliveredStays) {
  auto made = mapping();
  made.retries_max = 0;
  made.on_failure = identity_of("missing").arn();
  start(made);
  send("m");
  answer(raised());
  EXPECT_EQ(in("orders"), Bodies{"m"});
  EXPECT_EQ(log.size(), 1u);
  expect_again_after(seconds(30));
  world.create("missing");
  answer(raised());
  EXPECT_EQ(in("orders"), Bodies());
  EXPECT_EQ(in("missing").size(), 1u);
}

TEST_F(Failures, AFunctionMayBeADestination) {
  define_function("cleaner");
  auto made = mapping();
  made.retries_max = 0;
  made.on_failure = function_id("cleaner").arn();
  start(made);
  send("m");
  answer(raised());
  ASSERT_EQ(invoker.calls.size(), 1u);
  EXPECT_EQ(invoker.calls[0].function->name, "cleaner");
  EXPECT_NE(invoker.calls[0].event().find(R"("body":"m")"), std::string::npos);
  EXPECT_EQ(in("orders"), Bodies());
}

TEST_F(Failures, OldMessagesAreNotRun) {
  world.create("failed");
  auto made = mapping();
  made.age_max = seconds(100);
  made.on_failure = identity_of("failed").arn();
  world.send("orders", "old");
  world.pass(seconds(100));
  world.send("orders", "new");
  start(made);
  EXPECT_EQ(running(), (std::vector<Bodies>{{"new"}}));
  EXPECT_EQ(in("orders"), Bodies{"new"});
  EXPECT_NE(first_document("failed").find("RecordAgeExceeded"), std::string::npos);
  EXPECT_EQ(first_document("failed").find("responseContext"), std::string::npos);
}

// None of them ran with this batch: the record has its own id.
TEST_F(Failures, RecordsOfOldMessagesSayHowOftenTheyRan) {
  world.create("failed");
  auto made = mapping();
  made.age_max = seconds(100);
  made.on_failure = identity_of("failed").arn();
  world.send("orders", "old");
  start(made);
  answer(raised());
  world.send("orders", "never run");
  world.pass(seconds(200));
  settle();
  std::map<std::string, std::string> by_count;
  for (const std::string& document : world.receive("failed")) {
    EXPECT_EQ(document.find(R"("requestId":"")"), std::string::npos) << document;
    const std::size_t at = document.find(R"("approximateInvokeCount":)") + 25;
    by_count[document.substr(at, 1)] = document;
  }
  ASSERT_EQ(by_count.size(), 2u);
  EXPECT_NE(by_count["0"].find("never run"), std::string::npos) << by_count["0"];
  EXPECT_NE(by_count["1"].find(R"("body":"old")"), std::string::npos) << by_count["1"];
}

TEST_F(Failures, OldMessagesWithoutADestinationAreDeadLetters) {
  auto made = mapping();
  made.age_max = seconds(60);
  world.send("orders", "old");
  world.pass(seconds(60));
  start(made);
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(in("dead"), Bodies{"old"});
}

TEST_F(Failures, BisectFindsTheBadOne) {
  for (int i = 0; i < 4; ++i) world.send("orders", std::to_string(i));
  auto made = mapping();
  made.bisect = true;
  made.retries_max = 0;
  start(made);
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1", "2", "3"}}));
  answer(raised());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1"}}));
  answer(returned());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"2", "3"}}));
  answer(raised());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"2"}}));
  answer(raised());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"3"}}));
  answer(returned());
  EXPECT_EQ(in("dead"), Bodies{"2"});
  EXPECT_EQ(in("orders"), Bodies());
}

TEST_F(Failures, ThrottlesAreNobodysFailure) {
  send("m");
  auto made = mapping();
  made.retries_max = 0;
  start(made);
  answer(throttled());
  EXPECT_TRUE(running().empty());
  dispatcher->strand().pass(std::chrono::milliseconds(100));
  ASSERT_EQ(running().size(), 1u);
  answer({.kind = Kind::service_error});
  dispatcher->strand().pass(std::chrono::milliseconds(200));
  answer(returned());
  EXPECT_EQ(in("orders"), Bodies());
  EXPECT_EQ(in("dead"), Bodies());
}

TEST_F(Failures, ThrottlesEndWithTheVisibilityTimeout) {
  send("m");
  start(mapping());
  FakeInvoker::Call call = take();
  world.clock.advance(seconds(31));
  call.done(throttled());
  settle();
  // Received again.
  ASSERT_EQ(running().size(), 1u);
  EXPECT_NE(invoker.calls[0].event().find(R"("ApproximateReceiveCount":"2")"), std::string::npos);
  EXPECT_EQ(last_error("orders"), nullptr);
}

struct FifoFailures : Failures {
  FifoFailures() {
    world.create("dead.fifo", engine::fifo_settings());
    auto settings = engine::fifo_settings();
    settings.redrive = queue::RedrivePolicy{identity_of("dead.fifo").arn(), 100};
    world.create("line.fifo", settings);
  }
  // A response that reports these messages of the running batch.
  std::string named(std::initializer_list<std::size_t> places) {
    const auto ids = invoker.calls[0].ids();
    std::string items;
    for (const std::size_t place : places) {
      if (!items.empty()) items += ',';
      items += R"({"itemIdentifier":")" + ids[place] + R"("})";
    }
    return R"({"batchItemFailures":[)" + items + "]}";
  }
};

TEST_F(FifoFailures, OrderIsKept) {
  for (int i = 0; i < 4; ++i) world.send("line.fifo", std::to_string(i));
  auto made = mapping("line.fifo");
  made.batch_size = 2;
  start(made);
  // One batch per group at a time.
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1"}}));
  answer(raised());
  EXPECT_TRUE(running().empty());
  pass(seconds(30));
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1"}}));
  answer(returned());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"2", "3"}}));
  answer(returned());
  EXPECT_EQ(in("line.fifo"), Bodies());
}

TEST_F(FifoFailures, ADeadLetterLetsItsGroupGo) {
  for (int i = 0; i < 2; ++i) world.send("line.fifo", std::to_string(i));
  auto made = mapping("line.fifo");
  made.batch_size = 1;
  made.retriers = {{.error_equals = {"States.ALL"}, .max_attempts = 0}};
  start(made);
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0"}}));
  answer(raised());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"1"}}));
  EXPECT_EQ(in("dead.fifo"), Bodies{"0"});
}

// A function that preserves the order also reports the messages it has not tried.
TEST_F(FifoFailures, OfThoseNamedOnlyTheFirstIsJudged) {
  for (int i = 0; i < 4; ++i) world.send("line.fifo", std::to_string(i));
  auto made = mapping("line.fifo");
  made.report_item_failures = true;
  made.retriers = {{.error_equals = {"States.ALL"}, .max_attempts = 0}};
  start(made);
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1", "2", "3"}}));
  answer(returned(named({1, 2, 3})));
  EXPECT_EQ(in("dead.fifo"), Bodies{"1"});
  ASSERT_EQ(running(), (std::vector<Bodies>{{"2", "3"}}));
  answer(returned());
  EXPECT_EQ(in("line.fifo"), Bodies());
}

TEST_F(FifoFailures, ThoseBehindTheOneThatIsTriedAgainComeWithIt) {
  for (int i = 0; i < 3; ++i) world.send("line.fifo", std::to_string(i));
  auto made = mapping("line.fifo");
  made.report_item_failures = true;
  made.retriers = {{.error_equals = {"States.ALL"}, .interval_seconds = 5, .max_attempts = 1}};
  start(made);
  answer(returned(named({0, 1, 2})));
  pass(seconds(5));
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1", "2"}}));
  answer(returned(named({0, 1, 2})));
  EXPECT_EQ(in("dead.fifo"), Bodies{"0"});
  ASSERT_EQ(running(), (std::vector<Bodies>{{"1", "2"}}));
  answer(returned(named({0, 1})));  // The first time it is actually tried.
  EXPECT_EQ(in("dead.fifo"), Bodies{"0"});
  pass(seconds(5));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"1", "2"}}));
}

// The longest delay among the failed messages applies to the group: nothing may overtake.
TEST_F(FifoFailures, AGroupWaitsForItsLongestDelay) {
  world.send("line.fifo", "0");
  auto made = mapping("line.fifo");
  made.retriers = {{.error_equals = {"States.ALL"},
                    .interval_seconds = 5,
                    .max_attempts = 3,
                    .backoff_rate = 4}};
  start(made);
  answer(raised());
  world.send("line.fifo", "1");
  pass(seconds(5));
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1"}}));
  answer(raised());  // 20 s for the first, which has failed twice; 5 s for the second.
  pass(seconds(19));
  EXPECT_TRUE(running().empty());
  pass(seconds(1));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"0", "1"}}));
}

// A message behind a failed one of its group does not run before it.
TEST_F(FifoFailures, BisectStopsAtTheFirstFailure) {
  for (int i = 0; i < 4; ++i) world.send("line.fifo", std::to_string(i));
  auto made = mapping("line.fifo");
  made.bisect = true;
  start(made);
  answer(raised());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1"}}));
  answer(raised());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0"}}));
  answer(returned());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"1"}}));
  answer(raised());
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(in("line.fifo"), (Bodies{"1", "2", "3"}));
  pass(seconds(30));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"1", "2", "3"}}));
}

// Also if a retrier is quicker or slower than the visibility timeout.
struct HeldBack : FifoFailures, ::testing::WithParamInterface<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Intervals, HeldBack, ::testing::Values(5, 50));

TEST_P(HeldBack, ComesWithTheOneThatFailed) {
  for (int i = 0; i < 4; ++i) world.send("line.fifo", std::to_string(i));
  auto made = mapping("line.fifo");
  made.bisect = true;
  made.retriers = {{.error_equals = {"States.ALL"}, .interval_seconds = GetParam()}};
  start(made);
  answer(raised());
  answer(raised());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0"}}));
  answer(raised());
  EXPECT_TRUE(running().empty());
  pass(seconds(GetParam() - 1));
  EXPECT_TRUE(running().empty());
  pass(seconds(1));
  ASSERT_EQ(running(), (std::vector<Bodies>{{"0", "1", "2", "3"}}));
  answer(returned());
  EXPECT_EQ(in("line.fifo"), Bodies());
}

}  // namespace
}  // namespace redrive::dispatch
