#pragma once

#include <simdjson.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "functions/dispatch/dispatcher.h"
#include "tests/core/engine/engine_world.h"

// Shared test fixture: an engine with a manual clock, functions whose results are given by the
// test, and a manually driven strand.
namespace redrive::dispatch {

using engine::identity_of;
using engine::seconds;

// Keeps invocations until the test answers them.
class FakeInvoker final : public runtime::Invoker {
 public:
  struct Call {
    std::shared_ptr<const runtime::FunctionSpec> function;
    runtime::Invocation what;
    std::function<void(runtime::Outcome)> done;

    // As JSON, whatever format the function gets.
    std::string event() const { return what.payload.as_json().text(); }
    // The bodies of the event's records, in order.
    std::vector<std::string> bodies() const {
      simdjson::dom::parser parser;
      std::vector<std::string> found;
      simdjson::dom::element document = parser.parse(event());
      for (const auto record : simdjson::dom::array(document["Records"]))
        found.emplace_back(std::string_view(record["body"]));
      return found;
    }
    std::vector<std::string> ids() const {
      simdjson::dom::parser parser;
      std::vector<std::string> found;
      simdjson::dom::element document = parser.parse(event());
      for (const auto record : simdjson::dom::array(document["Records"]))
        found.emplace_back(std::string_view(record["messageId"]));
      return found;
    }
  };
  std::deque<Call> calls;

  void invoke(std::shared_ptr<const runtime::FunctionSpec> function, runtime::Invocation what,
              std::function<void(runtime::Outcome)> done) override {
    calls.push_back({std::move(function), std::move(what), std::move(done)});
  }
  void retire(const std::string&) override {}
  void forget(const std::string&) override {}
  std::vector<runtime::LogLine> logs(const std::string&, std::uint64_t, std::size_t) override {
    return {};
  }
  runtime::FunctionStats stats(const std::string&) override { return {}; }
  std::string isolation() const override { return "none"; }
};

using Kind = runtime::Outcome::Kind;

inline runtime::Outcome returned(std::string payload = "null") {
  return {.payload = std::move(payload)};
}
inline runtime::Outcome raised(std::string type = "ValueError", std::string message = "bad") {
  return {.kind = Kind::function_error,
          .payload = R"({"errorType":")" + type + R"(","errorMessage":")" + message + "\"}",
          .error_type = type,
          .error_message = message,
          .stack = "  File \"app.py\", line 3, in handler",
          .log = "START\nEND\n"};
}
// A very short run.
inline runtime::Outcome returned_after(std::chrono::microseconds time) {
  runtime::Outcome outcome = returned();
  outcome.duration = time;
  return outcome;
}
inline runtime::Outcome throttled() {
  return {.kind = Kind::throttled};
}

struct DispatchWorld : testing::Test {
  engine::EngineWorld world;
  FakeInvoker invoker;
  std::vector<std::string> log;
  Definitions definitions;
  std::unique_ptr<objects::Store> buckets;
  std::unique_ptr<Dispatcher> dispatcher;
  bool wait_for_sync = false;
  unsigned processes_max = 1000;
  std::vector<std::string> outgoing = {"loopback"};  // Webhooks of these tests.

  static functions::FunctionId function_id(const std::string& name = "f") {
    return {"000000000000", "us-east-1", name};
  }

  DispatchWorld() {
    world.create("dead");
    world.create("orders", with_dlq(100));
    define_function("f");
  }
  ~DispatchWorld() override { stop(); }

  static queue::QueueSettings with_dlq(std::uint32_t receive_count_max) {
    queue::QueueSettings settings;
    settings.redrive = queue::RedrivePolicy{identity_of("dead").arn(), receive_count_max};
    return settings;
  }

  Definitions::Entry& define_function(const std::string& name, seconds timeout = seconds(3)) {
    auto spec = std::make_shared<runtime::FunctionSpec>();
    spec->arn = function_id(name).arn();
    spec->name = name;
    spec->runtime = "python3.11";
    spec->timeout = timeout;
    world.engine().turn([&](engine::Turn& turn) {
      turn.commit(queue::EntryPut{queue::EntryKind::function, spec->arn, "{}"});
    });
    auto& entry = definitions.functions[spec->arn];
    entry = {.id = function_id(name), .spec = spec, .config = {}, .dead_letter_arn = {}};
    return entry;
  }
  // The function f with another runtime.
  static std::shared_ptr<const runtime::FunctionSpec> of_runtime(const std::string& runtime) {
    auto spec = std::make_shared<runtime::FunctionSpec>();
    spec->arn = function_id().arn();
    spec->name = "f";
    spec->runtime = runtime;
    spec->revision = runtime;
    return spec;
  }
  static functions::Mapping mapping(const std::string& queue = "orders") {
    functions::Mapping made;
    made.id = "m-" + queue;
    made.account = "000000000000";
    made.region = "us-east-1";
    made.queue_arn = identity_of(queue).arn();
    made.function_arn = function_id().arn();
    return made;
  }
  void start() {
    dispatcher = std::make_unique<Dispatcher>(
        Dispatcher::Parts{.engine = world.engine(),
                          .invoker = invoker,
                          .buckets = buckets.get(),
                          .definitions = [this] { return definitions; },
                          .outgoing = std::make_shared<http::OutgoingPolicy>(
                              *http::OutgoingPolicy::parse(outgoing))},
        Dispatcher::Hooks{.sync_wanted = {},
                          .log = [this](std::string line) { log.push_back(std::move(line)); }},
        Dispatcher::Options{.concurrency_max = 50,
                            .processes_max = processes_max,
                            .mode = Strand::Mode::manual,
                            .wait_for_sync = wait_for_sync});
    reload();
  }
  void start(functions::Mapping made) {
    world.engine().turn([&](engine::Turn& turn) {
      turn.commit(queue::EntryPut{queue::EntryKind::mapping, made.id, "{}"});
    });
    definitions.mappings = {std::move(made)};
    start();
  }
  void reload() {
    dispatcher->reload();
    settle();
  }
  void stop() {
    if (dispatcher) dispatcher->stop(std::chrono::milliseconds::zero());
    dispatcher.reset();
  }
  // The process ends while things are in progress, and another one starts.
  void restart() {
    invoker.calls.clear();
    // Without a graceful stop: received messages stay in flight.
    dispatcher->strand().stop();
    dispatcher.reset();
    world.restart();
    start();
  }

  void settle() {
    if (dispatcher) dispatcher->strand().drain();
  }
  // Advances engine time, handling everything that is due at its own time.
  void pass(Duration time) {
    const Timestamp end = world.engine().now() + time;
    settle();
    while (world.engine().armed() <= end) {
      world.clock.advance(
          std::max(Duration::zero(), world.engine().armed() - world.engine().now()));
      world.engine().tick();
      settle();
    }
    world.clock.advance(end - world.engine().now());
  }
  void send(const std::string& body, const std::string& queue = "orders") {
    world.send(queue, body);
    settle();
  }

  using Bodies = std::vector<std::string>;
  // Running batches.
  std::vector<Bodies> running() {
    std::vector<Bodies> found;
    for (const auto& call : invoker.calls) found.push_back(call.bodies());
    return found;
  }
  FakeInvoker::Call take() {
    EXPECT_FALSE(invoker.calls.empty());
    FakeInvoker::Call call = std::move(invoker.calls.front());
    invoker.calls.pop_front();
    return call;
  }
  // Ends the oldest invocation with this outcome.
  FakeInvoker::Call answer(const runtime::Outcome& outcome) {
    FakeInvoker::Call call = take();
    call.done(outcome);
    settle();
    return call;
  }

  // All messages of a queue, in flight or not, oldest first.
  Bodies in(const std::string& name) {
    auto page = world.dead_letters().peek.page(identity_of(name), {}, 1000);
    Bodies bodies;
    if (!page) return bodies;
    for (const auto& peeked : page->messages) {
      std::string bytes(peeked.body.size, '\0');
      EXPECT_TRUE(world.engine().read_body(peeked.body, bytes.data()).has_value());
      bodies.emplace_back(store::decode_message(bytes)->contents.body);
    }
    return bodies;
  }
  std::size_t size(const queue::QueueIdentity& identity) {
    return world.engine().turn([&](engine::Turn& turn) {
      const auto* queue = turn.state().find(identity);
      return queue == nullptr ? std::size_t{0} : turn.state().mailbox(*queue).size();
    });
  }
  // The last error of a queue's only message.
  const queue::ErrorText* last_error(const std::string& name) {
    auto page = world.dead_letters().peek.page(identity_of(name), {}, 1);
    if (!page || page->messages.empty()) return nullptr;
    const queue::Slot slot = world.state().messages().find(page->messages[0].mark.key);
    const auto* history = world.state().messages().history_if(slot);
    if (history == nullptr || history->attempts.empty()) return nullptr;
    return world.state().errors().find(history->attempts.back().error);
  }
};

}  // namespace redrive::dispatch
