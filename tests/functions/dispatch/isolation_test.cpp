// One bad message does not fail the others of its batch.

#include "tests/functions/dispatch/dispatch_world.h"

namespace redrive::dispatch {
namespace {

struct Isolated : DispatchWorld {
  void send_all(const std::string& queue, const Bodies& bodies) {
    for (const std::string& body : bodies) world.send(queue, body);
  }
  // Answers everything that runs like a handler that raises if a batch contains "bad". Returns the
  // number of runs.
  std::size_t run_all() {
    std::size_t runs = 0;
    while (!invoker.calls.empty()) {
      const Bodies bodies = invoker.calls[0].bodies();
      const bool bad = std::ranges::find(bodies, "bad") != bodies.end();
      answer(bad ? raised() : returned());
      ++runs;
    }
    return runs;
  }
  // The same until the queue is empty.
  std::size_t run_to_the_end(const std::string& queue) {
    std::size_t runs = run_all();
    for (int i = 0; i < 100 && !in(queue).empty(); ++i) {
      pass(seconds(31));
      runs += run_all();
    }
    return runs;
  }
  std::vector<queue::Attempt> attempts(const std::string& queue, const std::string& body) {
    auto page = world.dead_letters().peek.page(identity_of(queue), {}, 100);
    const Bodies bodies = in(queue);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (bodies[i] == body) return page->messages[i].history->attempts;
    }
    return {};
  }
};

TEST_F(Isolated, MessagesOfABatchThatFailedRunAlone) {
  send_all("orders", {"a", "bad", "c"});
  start(mapping());
  ASSERT_EQ(running(), (std::vector<Bodies>{{"a", "bad", "c"}}));
  answer(raised());
  pass(seconds(30));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"a"}, {"bad"}, {"c"}}));
  run_all();
  EXPECT_EQ(in("orders"), Bodies{"bad"});
}

TEST_F(Isolated, OnlyTheBadDie) {
  for (const std::uint32_t receives : {1u, 2u, 3u}) {
    const std::string name = "orders" + std::to_string(receives);
    world.create(name, with_dlq(receives));
    send_all(name, {"a", "b", "c", "bad", "d", "e", "f", "g", "h", "i"});
    stop();
    start(mapping(name));
    const std::size_t runs = run_to_the_end(name);
    EXPECT_EQ(in("dead"), Bodies(receives, "bad")) << receives;
    // A failed batch of ten, and ten more runs; then the bad one alone.
    EXPECT_LE(runs, 11u + (receives > 2 ? receives - 2 : 0)) << receives;
    EXPECT_GE(runs, 11u) << receives;
  }
}

TEST_F(Isolated, AtTheLastReceiveTheyRunAloneAtOnce) {
  world.create("once", with_dlq(1));
  send_all("once", {"a", "bad"});
  start(mapping("once"));
  answer(raised());
  EXPECT_EQ(running(), (std::vector<Bodies>{{"a"}, {"bad"}}));
  EXPECT_NE(invoker.calls[0].event().find(R"("ApproximateReceiveCount":"1")"), std::string::npos);
  run_all();
  EXPECT_EQ(in("once"), Bodies{"bad"});
  pass(seconds(31));
  EXPECT_EQ(in("dead"), Bodies{"bad"});
  ASSERT_EQ(attempts("dead", "bad").size(), 1u);
  EXPECT_EQ(attempts("dead", "bad")[0].company, 1u);
}

TEST_F(Isolated, AnAttemptSaysInWhatCompanyItFailed) {
  send_all("orders", {"a", "bad", "c"});
  start(mapping());
  answer(raised("KeyError", "'store_id'"));
  for (const char* body : {"a", "bad", "c"}) {
    const auto told = attempts("orders", body);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].company, 3u);
    EXPECT_TRUE(told[0].is_shared());
  }
  pass(seconds(30));
  run_all();
  const auto told = attempts("orders", "bad");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].company, 1u);
  EXPECT_FALSE(told[1].is_shared());
}

TEST_F(Isolated, WithoutItBatchesComeBackTogether) {
  world.create("twice", with_dlq(2));
  send_all("twice", {"a", "bad"});
  auto made = mapping("twice");
  made.isolate_retries = false;
  start(made);
  run_to_the_end("twice");
  EXPECT_EQ(in("dead"), (Bodies{"a", "bad"}));
  EXPECT_TRUE(attempts("dead", "a")[1].is_shared());
}

TEST_F(Isolated, RetriersThatGiveUpGiveUpOnlyTheBad) {
  send_all("orders", {"a", "bad", "c"});
  auto made = mapping();
  made.retriers = {{.error_equals = {"States.ALL"}, .max_attempts = 0}};
  start(made);
  EXPECT_EQ(run_all(), 4u);
  EXPECT_EQ(in("orders"), Bodies());
  EXPECT_EQ(in("dead"), Bodies{"bad"});
}

TEST_F(Isolated, MaximumRetryAttemptsGiveUpOnlyTheBad) {
  send_all("orders", {"a", "bad", "c"});
  auto made = mapping();
  made.retries_max = 0;
  made.on_failure = identity_of("dead").arn();
  start(made);
  EXPECT_EQ(run_all(), 4u);
  EXPECT_EQ(in("orders"), Bodies());
  ASSERT_EQ(in("dead").size(), 1u);
  EXPECT_NE(in("dead")[0].find("\"approximateInvokeCount\":1"), std::string::npos);
}

TEST_F(Isolated, ABatchThatIsHalvedIsNotRunTwice) {
  world.create("once", with_dlq(1));
  send_all("once", {"a", "bad"});
  auto made = mapping("once");
  made.bisect = true;
  start(made);
  EXPECT_EQ(run_all(), 3u);
  pass(seconds(31));
  EXPECT_EQ(in("dead"), Bodies{"bad"});
}

TEST_F(Isolated, ReportedItemsAreJudgedAndStayInBatches) {
  send_all("orders", {"a", "b"});
  auto made = mapping();
  made.report_item_failures = true;
  start(made);
  const auto ids = invoker.calls[0].ids();
  answer(returned(R"({"batchItemFailures":[{"itemIdentifier":")" + ids[0] +
                  R"("},{"itemIdentifier":")" + ids[1] + R"("}]})"));
  EXPECT_EQ(attempts("orders", "a")[0].company, 0u);
  pass(seconds(30));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"a", "b"}}));
}

TEST_F(Isolated, AKillDuringTheLastReceiveKillsNothing) {
  world.create("once", with_dlq(1));
  send_all("once", {"a", "bad", "c"});
  start(mapping("once"));
  answer(raised());  // The individual runs of the last receive have begun.
  ASSERT_EQ(running().size(), 3u);
  restart();
  pass(seconds(61));
  EXPECT_EQ(in("dead"), Bodies());
  EXPECT_EQ(running(), (std::vector<Bodies>{{"a"}, {"bad"}, {"c"}}));
  run_to_the_end("once");
  EXPECT_EQ(in("dead"), Bodies{"bad"});
}

TEST_F(Isolated, AKillDuringTheBatchKillsNothing) {
  world.create("once", with_dlq(1));
  send_all("once", {"a", "bad", "c"});
  start(mapping("once"));
  restart();
  pass(seconds(61));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"a"}, {"bad"}, {"c"}}));
  run_to_the_end("once");
  EXPECT_EQ(in("dead"), Bodies{"bad"});
}

TEST_F(Isolated, WhatNeverRanDoesNotDie) {
  world.create("once", with_dlq(1));
  send_all("once", {"a"});
  start(mapping("once"));
  for (int i = 0; i < 200; ++i) {
    if (invoker.calls.empty()) {
      pass(seconds(5));
    } else {
      answer(throttled());
      dispatcher->strand().pass(std::chrono::seconds(10));
      pass(seconds(10));
    }
  }
  EXPECT_EQ(in("dead"), Bodies());
  EXPECT_EQ(in("once"), Bodies{"a"});
}

// The mapping is deleted while a batch runs: nothing can run alone any more.
TEST_F(Isolated, WithoutAMappingWhatFailedTogetherComesBack) {
  world.create("once", with_dlq(1));
  send_all("once", {"a", "bad"});
  start(mapping("once"));
  definitions.mappings.clear();
  reload();
  answer(raised());
  EXPECT_TRUE(running().empty());
  EXPECT_EQ(in("once"), (Bodies{"a", "bad"}));
  definitions.mappings = {mapping("once")};
  reload();
  run_to_the_end("once");
  EXPECT_EQ(in("dead"), Bodies{"bad"});
}

TEST_F(Isolated, FifoQueuesKeepTheirOrder) {
  const auto& spec = definitions.functions.begin()->second.spec;
  EXPECT_FALSE((*make_plan(mapping("orders.fifo"), spec))->isolates());
  EXPECT_TRUE((*make_plan(mapping("orders"), spec))->isolates());
}

// Its message is received again before it fails, so that no attempt is ever judged.
TEST_F(Isolated, AHandlerThatMakesItsMessageVisibleDoesNotKeepItForEver) {
  world.create("once", with_dlq(1));
  send_all("once", {"bad"});
  start(mapping("once"));
  for (int i = 0; i < 30 && !in("once").empty(); ++i) {
    if (invoker.calls.empty()) {
      pass(seconds(31));
      continue;
    }
    const std::string event = invoker.calls[0].event();
    const auto begin = event.find("receiptHandle\":\"") + 16;
    const std::string handle = event.substr(begin, event.find('"', begin) - begin);
    const engine::Engine::VisibilityRequest request{handle, seconds(1)};
    static_cast<void>(
        world.engine().change_visibility(identity_of("once"), std::span(&request, 1)));
    world.clock.advance(seconds(2));
    answer(raised());
  }
  EXPECT_EQ(in("dead"), Bodies{"bad"});
}

}  // namespace
}  // namespace redrive::dispatch
