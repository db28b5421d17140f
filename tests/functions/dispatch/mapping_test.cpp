// Batches, windows, limits, filters: how a mapping delivers messages to a function.

#include "tests/functions/dispatch/dispatch_world.h"

namespace redrive::dispatch {
namespace {

using Mapping = DispatchWorld;

TEST_F(Mapping, SuccessDeletesTheBatch) {
  for (int i = 0; i < 3; ++i) world.send("orders", "m" + std::to_string(i));
  start(mapping());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"m0", "m1", "m2"}}));
  EXPECT_EQ(in("orders").size(), 3u);
  answer(returned(R"({"batchItemFailures":[{"itemIdentifier":"ignored"}]})"));
  EXPECT_EQ(in("orders"), Bodies());
  EXPECT_TRUE(invoker.calls.empty());
}

TEST_F(Mapping, RunsWhatComesLater) {
  start(mapping());
  send("a");
  ASSERT_EQ(running(), (std::vector<Bodies>{{"a"}}));
  answer(returned());
  pass(seconds(60));
  send("b");
  EXPECT_EQ(running(), (std::vector<Bodies>{{"b"}}));
  EXPECT_EQ(invoker.calls[0].function->name, "f");
}

TEST_F(Mapping, BatchesAreNoLargerThanTheySay) {
  for (int i = 0; i < 5; ++i) world.send("orders", std::to_string(i));
  auto two = mapping();
  two.batch_size = 2;
  start(two);
  EXPECT_EQ(running(), (std::vector<Bodies>{{"0", "1"}, {"2", "3"}, {"4"}}));
}

TEST_F(Mapping, HasItsLimit) {
  for (int i = 0; i < 9; ++i) world.send("orders", std::to_string(i));
  auto made = mapping();
  made.batch_size = 1;
  made.concurrency_max = 2;
  start(made);
  EXPECT_EQ(running().size(), 2u);
  // The others are not even received.
  EXPECT_EQ(world.receive("orders", 1), Bodies{"2"});
  answer(returned());
  EXPECT_EQ(running(), (std::vector<Bodies>{{"1"}, {"3"}}));
}

// More batches than processes would only wait for each other.
TEST_F(Mapping, GrowsToTheProcessesOfTheServerAtMost) {
  processes_max = 7;
  for (int i = 0; i < 40; ++i) world.send("orders", std::to_string(i));
  auto made = mapping();
  made.batch_size = 1;
  made.concurrency_max = 200;
  start(made);
  for (int i = 0; i < 10; ++i) {
    pass(seconds(1));
    answer(returned());
  }
  EXPECT_EQ(running().size(), 7u);
}

TEST_F(Mapping, GrowsWithTheBacklog) {
  for (int i = 0; i < 200; ++i) world.send("orders", std::to_string(i));
  auto made = mapping();
  made.batch_size = 1;
  start(made);
  EXPECT_EQ(running().size(), 5u);
  pass(seconds(1));
  answer(returned());
  EXPECT_EQ(running().size(), 10u);
  for (int i = 0; i < 60; ++i) {
    pass(seconds(1));
    answer(returned());
  }
  EXPECT_EQ(running().size(), 50u);  // The server's maximum.
  while (!invoker.calls.empty()) answer(returned());
  pass(seconds(41));  // Idle for the length of a poll.
  for (int i = 0; i < 20; ++i) world.send("orders", std::to_string(i));
  settle();
  EXPECT_EQ(running().size(), 5u);
}

TEST_F(Mapping, SlowsDownWhileTheFunctionFails) {
  for (int i = 0; i < 100; ++i) world.send("orders", std::to_string(i));
  auto made = mapping();
  made.batch_size = 1;
  start(made);
  for (int i = 0; i < 12; ++i) answer(raised());
  EXPECT_EQ(running().size(), 1u);
  for (int i = 0; i < 4; ++i) answer(returned());
  EXPECT_EQ(running().size(), 5u);
}

TEST_F(Mapping, DoesNotSlowDownForItemsThatAreReported) {
  for (int i = 0; i < 100; ++i) world.send("orders", std::to_string(i));
  auto made = mapping();
  made.batch_size = 1;
  made.report_item_failures = true;
  start(made);
  for (int i = 0; i < 12; ++i) answer(raised());
  EXPECT_GE(running().size(), 5u);
}

TEST_F(Mapping, AWindowGathersABatch) {
  auto made = mapping();
  made.batch_size = 100;
  made.window = seconds(5);
  start(made);
  for (int i = 0; i < 15; ++i) send(std::to_string(i));
  EXPECT_TRUE(running().empty());
  pass(seconds(4));
  send("late");
  EXPECT_TRUE(running().empty());
  pass(seconds(1));
  ASSERT_EQ(running().size(), 1u);
  EXPECT_EQ(running()[0].size(), 16u);
  answer(returned());
  EXPECT_EQ(in("orders"), Bodies());
  send("next");
  EXPECT_TRUE(running().empty());
  pass(seconds(5));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"next"}}));
}

TEST_F(Mapping, AFullBatchDoesNotWaitForItsWindow) {
  auto made = mapping();
  made.batch_size = 12;
  made.window = seconds(60);
  start(made);
  for (int i = 0; i < 13; ++i) send(std::to_string(i));
  ASSERT_EQ(running().size(), 1u);
  EXPECT_EQ(running()[0].size(), 12u);
  // The window of the first batch does not affect the second.
  pass(seconds(59));
  send("more");
  pass(seconds(1));
  ASSERT_EQ(running().size(), 2u);
  EXPECT_EQ(running()[1], (Bodies{"12", "more"}));
}

TEST_F(Mapping, AnEventHasSixMegabytesAtMost) {
  const std::string large(1'000'000, 'x');
  for (int i = 0; i < 8; ++i) world.send("orders", large);
  start(mapping());
  ASSERT_EQ(running().size(), 2u);
  EXPECT_EQ(running()[0].size(), 6u);
  EXPECT_EQ(running()[1].size(), 2u);
  for (const auto& call : invoker.calls)
    EXPECT_LE(call.what.payload.size(), events::kEventBytesMax);
}

TEST_F(Mapping, FiltersTakeAwayWhatNobodyWants) {
  auto made = mapping();
  made.filters = {R"({"body":{"kind":["a"]}})", R"({"body":[{"prefix":"p"}]})"};
  for (const char* body : {R"({"kind":"a"})", R"({"kind":"b"})", "plain", "other"})
    world.send("orders", body);
  start(made);
  EXPECT_EQ(running(), (std::vector<Bodies>{{R"({"kind":"a"})", "plain"}}));
  EXPECT_EQ(in("orders"), (Bodies{R"({"kind":"a"})", "plain"}));
  EXPECT_EQ(in("dead"), Bodies());
  EXPECT_EQ(dispatcher->stats().mappings.at("m-orders")->filtered_out, 2u);
}

TEST_F(Mapping, MessagesAreHeldWhileTheHandlerRuns) {
  send("slow");
  start(mapping());
  pass(std::chrono::hours(3));
  EXPECT_EQ(running().size(), 1u);
  answer(returned());
  EXPECT_EQ(in("orders"), Bodies());
}

TEST_F(Mapping, NothingIsHeldForMoreThanTwelveHours) {
  send("endless");
  auto made = mapping();
  made.concurrency_max = 2;
  start(made);
  pass(std::chrono::hours(13));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"endless"}, {"endless"}}));
}

TEST_F(Mapping, FollowsItsDefinition) {
  auto made = mapping();
  start(made);
  definitions.mappings[0].enabled = false;
  reload();
  send("paused");
  EXPECT_TRUE(running().empty());
  definitions.mappings[0].enabled = true;
  reload();
  EXPECT_EQ(running(), (std::vector<Bodies>{{"paused"}}));
  answer(returned());
  definitions.mappings[0].filters = {R"({"body":["x"]})"};
  reload();
  send("y");
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(in("orders"), Bodies());
  definitions.mappings.clear();
  reload();
  send("x");
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(in("orders"), Bodies{"x"});
}

// Disabled, and retired with the next change, while the result of its receive was pending.
TEST_F(Mapping, WhatComesTooLateGoesBackAtOnce) {
  start(mapping());
  definitions.mappings[0].enabled = false;
  dispatcher->reload();
  dispatcher->reload();
  send("late");
  definitions.mappings[0].enabled = true;
  reload();
  EXPECT_EQ(running(), (std::vector<Bodies>{{"late"}}));
}

TEST_F(Mapping, DoesNotOutliveAReset) {
  start(mapping());
  definitions = {};
  world.engine().reset();
  world.create("orders");
  send("of another life");
  dispatcher->strand().pass(std::chrono::seconds(60));
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(world.receive("orders"), Bodies{"of another life"});
}

TEST_F(Mapping, AFunctionThatComesLaterIsFed) {
  definitions.functions.clear();
  send("early");
  start(mapping());
  EXPECT_TRUE(running().empty());
  define_function("f");
  reload();
  EXPECT_EQ(running().size(), 1u);
}

TEST_F(Mapping, AQueueThatComesLaterIsRead) {
  start(mapping("later"));
  world.create("later");
  send("m", "later");
  dispatcher->strand().pass(std::chrono::seconds(20));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"m"}}));
}

TEST_F(Mapping, WhatWasNotRunGoesBackAtTheEnd) {
  auto made = mapping();
  made.window = seconds(60);
  start(made);
  send("gathered");
  stop();
  EXPECT_EQ(world.receive("orders"), Bodies{"gathered"});
}

// Killed between the receive and the end of the handler: the message comes back.
TEST_F(Mapping, ARestartLosesNothing) {
  send("m");
  start(mapping());
  EXPECT_EQ(running().size(), 1u);
  restart();
  EXPECT_TRUE(running().empty());
  pass(seconds(40));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"m"}}));
  answer(returned());
  EXPECT_EQ(in("orders"), Bodies());
}

TEST_F(Mapping, RecordsTellWhereTheyComeFrom) {
  send("m");
  start(mapping());
  const std::string payload = invoker.calls[0].event();
  EXPECT_NE(
      payload.find(
          R"("eventSourceARN":"arn:aws:sqs:us-east-1:000000000000:orders","awsRegion":"us-east-1")"),
      std::string::npos)
      << payload;
  EXPECT_NE(
      payload.find(
          R"("attributes":{"ApproximateReceiveCount":"1","SentTimestamp":"1700000000000",)"
          R"("ApproximateFirstReceiveTimestamp":"1700000000000"},"messageAttributes":{},"md5OfBody":)"),
      std::string::npos)
      << payload;
  EXPECT_TRUE(Uuid::parse(invoker.calls[0].what.request_id).has_value());
}

TEST_F(Mapping, EventsAreWrittenForTheRuntimeThatReadsThem) {
  for (const auto& [runtime, format] : std::map<std::string, std::string>{
           {"python3.11", "marshal"}, {"nodejs20.x", "json"}, {"provided.al2", "json"}}) {
    define_function("f").spec = of_runtime(runtime);
    send("m");
    start(mapping());
    ASSERT_EQ(running(), (std::vector<Bodies>{{"m"}}));
    EXPECT_EQ(invoker.calls[0].what.payload.format(), format);
    answer(returned());
    stop();
  }
}

// A batch is completed with the plan it was started with.
TEST_F(Mapping, AnotherRuntimeMeanwhileIsForTheNextBatch) {
  auto made = mapping();
  made.window = seconds(10);
  made.batch_size = 3;
  start(made);
  send("1");
  define_function("f").spec = of_runtime("nodejs20.x");
  reload();
  for (const char* body : {"2", "3", "4"}) send(body);
  pass(seconds(11));
  ASSERT_EQ(running(), (std::vector<Bodies>{{"1", "2", "3"}, {"4"}}));
  EXPECT_EQ(invoker.calls[0].what.payload.format(), "marshal");
  EXPECT_EQ(invoker.calls[1].what.payload.format(), "json");
}

// Until its poller has ended the receive and the running batch.
TEST_F(Mapping, ADisabledMappingIsEngagedUntilItsBatchHasEnded) {
  start(mapping());
  EXPECT_TRUE(dispatcher->is_engaged("m-orders"));
  EXPECT_FALSE(dispatcher->is_engaged("m-other"));
  send("a");
  ASSERT_EQ(running().size(), 1u);
  definitions.mappings[0].enabled = false;
  dispatcher->reload();
  EXPECT_TRUE(dispatcher->is_engaged("m-orders"));  // The dispatcher does not know yet.
  settle();
  EXPECT_TRUE(dispatcher->is_engaged("m-orders"));  // The batch runs.
  answer(returned());
  EXPECT_FALSE(dispatcher->is_engaged("m-orders"));
}

TEST_F(Mapping, ADisabledMappingThatOnlyWaitedLetsGoAtOnce) {
  start(mapping());
  definitions.mappings[0].enabled = false;
  reload();
  EXPECT_FALSE(dispatcher->is_engaged("m-orders"));
  definitions.mappings[0].enabled = true;
  reload();
  EXPECT_TRUE(dispatcher->is_engaged("m-orders"));
}

// The result of its receive is pending when it is disabled: the message goes back.
TEST_F(Mapping, ADisabledMappingIsEngagedUntilItsReceiveHasEnded) {
  start(mapping());
  dispatcher->strand().post([this] {
    definitions.mappings[0].enabled = false;
    dispatcher->reload();
  });
  dispatcher->strand().post([this] {
    world.send("orders", "late");  // Answers the waiting receive; handled after the reload.
  });
  bool engaged = false;
  dispatcher->strand().post([this, &engaged] { engaged = dispatcher->is_engaged("m-orders"); });
  settle();
  EXPECT_TRUE(engaged);
  EXPECT_FALSE(dispatcher->is_engaged("m-orders"));
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(world.receive("orders"), Bodies{"late"});
}

}  // namespace
}  // namespace redrive::dispatch
