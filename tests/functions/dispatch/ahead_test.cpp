// Messages received before they can run, and messages that must not run before their receive is
// durable.

#include "tests/functions/dispatch/dispatch_world.h"

namespace redrive::dispatch {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

struct Ahead : DispatchWorld {
  void start_with_backlog(const std::string& queue = "orders") {
    for (int i = 0; i < 300; ++i) world.send(queue, std::to_string(i));
    auto made = mapping(queue);
    made.batch_size = 1;
    made.concurrency_max = 2;
    start(made);
    ASSERT_EQ(running().size(), 2u) << "nothing is known of its runs";
  }
};

TEST_F(Ahead, ShortRunsAreReceivedAhead) {
  start_with_backlog();
  answer(returned_after(microseconds(50)));
  EXPECT_EQ(running().size(), 258u);
  // The invoker enforces the limit.
  for (const auto& call : invoker.calls) {
    ASSERT_EQ(call.what.lane, invoker.calls[0].what.lane);
    EXPECT_EQ(call.what.lane->running_max, 2u);
  }
  EXPECT_EQ(dispatcher->stats().mappings.at("m-orders")->running, 2u);
}

TEST_F(Ahead, AsManyAsRunWithinAMoment) {
  start_with_backlog();
  answer(returned_after(milliseconds(10)));
  EXPECT_EQ(running().size(), 6u);
}

TEST_F(Ahead, LongRunsAreNot) {
  start_with_backlog();
  answer(returned_after(milliseconds(21)));
  EXPECT_EQ(running().size(), 2u);
}

// A receive spent on waiting would be one too many.
TEST_F(Ahead, NotWhereReceivesAreFew) {
  world.create("few", with_dlq(2));
  start_with_backlog("few");
  answer(returned_after(microseconds(50)));
  EXPECT_EQ(running().size(), 2u);
}

TEST_F(Ahead, NotWithoutABacklog) {
  auto made = mapping();
  made.concurrency_max = 2;
  start(made);
  send("a");
  answer(returned_after(microseconds(50)));
  for (const char* body : {"b", "c", "d", "e"}) send(body);
  EXPECT_EQ(running(), (std::vector<Bodies>{{"b"}, {"c"}}));
  answer(returned_after(microseconds(50)));
  EXPECT_EQ(running(), (std::vector<Bodies>{{"c"}, {"d", "e"}}));
}

struct Durable : DispatchWorld {
  Durable() { wait_for_sync = true; }
  engine::Sequence appended() { return world.engine().appended(); }
  void sync(engine::Sequence reached) {
    dispatcher->note_synced(reached);
    settle();
  }
};

TEST_F(Durable, ABatchBeginsWhenItsReceiveIsDurable) {
  start(mapping());
  sync(appended());
  send("a");
  EXPECT_TRUE(running().empty());
  sync(appended() - 1);  // The send, but not the receive.
  EXPECT_TRUE(running().empty());
  sync(appended());
  EXPECT_EQ(running(), (std::vector<Bodies>{{"a"}}));
  answer(returned());
  EXPECT_EQ(in("orders"), Bodies());
}

TEST_F(Durable, WhatIsDurableAlreadyBeginsAtOnce) {
  start(mapping());
  sync(appended() + 100);
  send("a");
  EXPECT_EQ(running(), (std::vector<Bodies>{{"a"}}));
}

TEST_F(Durable, NoMoreIsReceivedMeanwhileThanMayRun) {
  for (int i = 0; i < 9; ++i) world.send("orders", std::to_string(i));
  auto made = mapping();
  made.batch_size = 1;
  made.concurrency_max = 2;
  start(made);
  EXPECT_EQ(world.receive("orders", 1), Bodies{"2"});
  sync(appended());
  EXPECT_EQ(running().size(), 2u);
}

TEST_F(Durable, AnEventDoesNotRunBeforeEither) {
  start();
  ASSERT_TRUE(dispatcher->invoke_async(function_id(), {.request_id = "r", .payload = "1"}));
  settle();
  EXPECT_TRUE(invoker.calls.empty());
  sync(appended());
  ASSERT_EQ(invoker.calls.size(), 1u);
  EXPECT_EQ(invoker.calls[0].event(), "1");
}

}  // namespace
}  // namespace redrive::dispatch
