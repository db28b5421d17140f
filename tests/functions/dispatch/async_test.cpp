// Asynchronous invocation.

#include <fmt/format.h>

#include "core/queue/hidden_queues.h"
#include "functions/dispatch/delivery.h"
#include "tests/functions/dispatch/dispatch_world.h"

namespace redrive::dispatch {
namespace {

struct Async : DispatchWorld {
  static constexpr const char* kRequest = "11d6ee51-0000-4302-9e22-7cd8afdaadf5";

  Async() { world.create("records"); }
  void invoke(const std::string& payload = R"({"n":1})") {
    ASSERT_TRUE(dispatcher
                    ->invoke_async(function_id(),
                                   {.request_id = kRequest,
                                    .payload = payload,
                                    .client_context = {},
                                    .trace = {},
                                    .invoked_arn = {}})
                    .has_value());
    settle();
  }
  std::size_t waiting() { return size(async_queue_of(function_id())); }
  functions::InvokeConfig& config() { return definitions.functions.at(function_id().arn()).config; }
  std::string only_record() {
    const Bodies bodies = in("records");
    EXPECT_EQ(bodies.size(), 1u);
    return bodies.empty() ? "" : bodies[0];
  }
};

TEST_F(Async, RunsTheEvent) {
  start();
  invoke();
  ASSERT_EQ(invoker.calls.size(), 1u);
  EXPECT_EQ(invoker.calls[0].event(), R"({"n":1})");
  EXPECT_EQ(invoker.calls[0].what.request_id, kRequest);
  answer(returned());
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(Async, RetriesAfterOneMinuteAndAfterTwo) {
  start();
  invoke();
  answer(raised());
  pass(seconds(60) - Duration(1));
  EXPECT_TRUE(invoker.calls.empty());
  pass(Duration(1));
  ASSERT_EQ(invoker.calls.size(), 1u);
  EXPECT_EQ(answer(raised()).what.request_id, kRequest);
  pass(seconds(120) - Duration(1));
  EXPECT_TRUE(invoker.calls.empty());
  pass(Duration(1));
  ASSERT_EQ(invoker.calls.size(), 1u);
  answer(raised());
  EXPECT_EQ(waiting(), 0u);
  pass(std::chrono::hours(1));
  EXPECT_TRUE(invoker.calls.empty());
}

TEST_F(Async, SurvivesARestart) {
  start();
  invoke();
  answer(raised());
  restart();
  pass(seconds(60));
  ASSERT_EQ(invoker.calls.size(), 1u);
  EXPECT_EQ(invoker.calls[0].what.request_id, kRequest);
  restart();  // While it runs.
  pass(seconds(60));
  ASSERT_EQ(invoker.calls.size(), 1u);
  answer(raised());
  pass(seconds(120));
  answer(raised());
  EXPECT_EQ(waiting(), 0u);
}

// Of the events that wait while there is no dispatcher, the second is damaged.
struct DamagedEvent : Async {
  queue::BodyRef body;
  queue::MessageKey key{};

  DamagedEvent() {
    for (const char* payload : {"1", "2", "3"}) {
      EXPECT_TRUE(send_event(world.engine(),
                             function_id(),
                             {.request_id = kRequest,
                              .payload = std::string(payload),
                              .client_context = {},
                              .trace = {},
                              .invoked_arn = {}})
                      .has_value());
    }
    const auto page = world.dead_letters().peek.page(events(), {}, 10);
    EXPECT_TRUE(page.has_value() && page->messages.size() == 3);
    body = page->messages[1].body;
    key = page->messages[1].mark.key;
    world.journal.flip_bit(body);
  }
  queue::QueueIdentity events() { return async_queue_of(function_id()); }
  dead_letters::DamagedPage damaged() {
    auto page = world.dead_letters().damage.list(events(), {}, 10);
    EXPECT_TRUE(page.has_value());
    return page ? *std::move(page) : dead_letters::DamagedPage();
  }
  Bodies payloads() {
    Bodies found;
    for (const auto& call : invoker.calls) found.push_back(call.event());
    return found;
  }
};

TEST_F(DamagedEvent, IsSetAsideAndTheOthersRun) {
  start();
  EXPECT_EQ(payloads(), (Bodies{"1", "3"}));
  answer(returned());
  answer(returned());
  EXPECT_EQ(waiting(), 0u);
  ASSERT_EQ(damaged().total, 1u);
  EXPECT_EQ(damaged().messages[0].mark.key, key);
  EXPECT_EQ(damaged().messages[0].queue_arn, events().arn());
  EXPECT_EQ(damaged().messages[0].error, "its bytes do not match their checksum");
  restart();
  EXPECT_TRUE(invoker.calls.empty());
  EXPECT_EQ(damaged().total, 1u);
}

TEST_F(DamagedEvent, RunsWhenItsBytesAreRestored) {
  start();
  answer(returned());
  answer(returned());
  world.journal.flip_bit(body);
  EXPECT_EQ(world.dead_letters().damage.retry(events(), std::span(&key, 1), {}).value(), 1u);
  pass(seconds(1));
  EXPECT_EQ(payloads(), Bodies{"2"});
  answer(returned());
  EXPECT_EQ(waiting() + damaged().total, 0u);
}

TEST_F(DamagedEvent, IsDropped) {
  start();
  EXPECT_EQ(world.dead_letters().damage.drop(events(), std::span(&key, 1)).value(), 1u);
  EXPECT_EQ(damaged().total, 0u);
}

// A later function of the same name is another one.
TEST_F(DamagedEvent, GoesWithItsFunction) {
  start();
  EXPECT_EQ(size(queue::damaged_of(events())), 1u);
  world.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::EntryRemoved{queue::EntryKind::function, function_id().arn()});
  });
  definitions.functions.clear();
  reload();
  EXPECT_TRUE(world.dead_letters().damage.counts().empty());
}

TEST_F(Async, TellsItsDestinations) {
  config().on_success = identity_of("records").arn();
  start();
  invoke();
  answer(returned("[2]"));
  EXPECT_EQ(waiting(), 0u);
  const std::string record = only_record();
  EXPECT_NE(
      record.find(R"("condition":"Success","approximateInvokeCount":1},"requestPayload":{"n":1})"),
      std::string::npos)
      << record;
  EXPECT_NE(record.find(R"("responsePayload":[2])"), std::string::npos) << record;
  EXPECT_NE(record.find(R"(:function:f:$LATEST")"), std::string::npos) << record;
}

TEST_F(Async, FailureGoesToBothPlaces) {
  config().retries_max = 0;
  config().on_failure = identity_of("records").arn();
  definitions.functions.at(function_id().arn()).dead_letter_arn = identity_of("dead").arn();
  start();
  invoke();
  answer(raised("ValueError", "no good"));
  EXPECT_EQ(waiting(), 0u);
  const std::string record = only_record();
  EXPECT_NE(record.find(R"("condition":"RetriesExhausted","approximateInvokeCount":1)"),
            std::string::npos)
      << record;
  EXPECT_EQ(in("dead"), Bodies{R"({"n":1})"});
  auto page = world.dead_letters().peek.page(identity_of("dead"), {}, 1);
  std::string bytes(page->messages[0].body.size, '\0');
  ASSERT_TRUE(world.engine().read_body(page->messages[0].body, bytes.data()).has_value());
  std::string attributes;
  store::decode_message(bytes)->contents.for_each_attribute(
      [&](const store::AttributeView& attribute) {
        attributes += fmt::format("{}:{}={};", attribute.name, attribute.type, attribute.value);
      });
  EXPECT_EQ(attributes,
            std::string("ErrorCode:Number=200;ErrorMessage:String=no good;RequestID:String=") +
                kRequest + ";");
}

TEST_F(Async, EventsGrowTooOld) {
  config().age_max = seconds(100);
  config().on_failure = identity_of("records").arn();
  start();
  invoke();
  answer(raised());
  pass(seconds(60));
  answer(raised());  // The next attempt would be at 180 s.
  EXPECT_EQ(waiting(), 0u);
  EXPECT_NE(only_record().find(R"("condition":"EventAgeExceeded","approximateInvokeCount":2)"),
            std::string::npos);
}

TEST_F(Async, ThrottlesAreTriedAgainWithoutCounting) {
  start();
  invoke();
  answer(throttled());
  EXPECT_TRUE(invoker.calls.empty());
  pass(seconds(1));
  ASSERT_EQ(invoker.calls.size(), 1u);
  answer(throttled());
  pass(seconds(1));
  EXPECT_TRUE(invoker.calls.empty());
  pass(seconds(1));
  ASSERT_EQ(invoker.calls.size(), 1u);
  for (int i = 0; i < 2; ++i) {
    answer(raised());
    pass(seconds(120));
    ASSERT_EQ(invoker.calls.size(), 1u);
  }
  answer(raised());
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(Async, ThrottlesEndWithTheAge) {
  config().age_max = seconds(60);
  config().on_failure = identity_of("records").arn();
  start();
  invoke();
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(invoker.calls.size(), 1u);
    answer(throttled());
    pass(seconds(1 << i));
  }
  answer(throttled());
  EXPECT_NE(only_record().find(R"("condition":"EventAgeExceeded","approximateInvokeCount":0)"),
            std::string::npos);
  EXPECT_NE(only_record().find(R"("statusCode":429)"), std::string::npos);
}

TEST_F(Async, WhatMayNeverRunIsGivenUpAtOnce) {
  auto spec =
      std::make_shared<runtime::FunctionSpec>(*definitions.functions.at(function_id().arn()).spec);
  spec->concurrency_max = 0;
  definitions.functions.at(function_id().arn()).spec = spec;
  config().on_failure = identity_of("records").arn();
  start();
  invoke();
  answer(throttled());
  EXPECT_EQ(waiting(), 0u);
  EXPECT_EQ(in("records").size(), 1u);
}

TEST_F(Async, RunsSeveralAtOnce) {
  start();
  for (int i = 0; i < 20; ++i) invoke();
  EXPECT_EQ(invoker.calls.size(), 5u);
  for (int i = 0; i < 20; ++i) answer(returned());
  EXPECT_EQ(waiting(), 0u);
}

// A function created later under the same name is a different one.
TEST_F(Async, EventsGoWithTheirFunction) {
  start();
  invoke();
  answer(raised());
  const auto entry = definitions.functions.extract(function_id().arn());
  reload();
  EXPECT_EQ(waiting(), 1u);  // It cannot run, but it exists.
  world.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::EntryRemoved{queue::EntryKind::function, entry.key()});
  });
  reload();
  EXPECT_EQ(waiting(), 0u);
  define_function("f");
  reload();
  pass(seconds(60));
  EXPECT_TRUE(invoker.calls.empty());
}

TEST_F(Async, NobodyElseReadsItsQueue) {
  start();
  invoke();
  queue::QueueIdentity identity = async_queue_of(function_id());
  identity.of_ours = false;
  EXPECT_FALSE(world.engine().receive(identity, {}, Duration::zero(), {}).answer->has_value());
}

}  // namespace
}  // namespace redrive::dispatch
