// Destinations outside the engine, and everything at once with real threads.

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/engine/time_travel.h"
#include "net/http/server.h"
#include "tests/functions/dispatch/dispatch_world.h"

namespace redrive::dispatch {
namespace {

// A webhook that records requests and responds with the given statuses.
class Hook {
 public:
  explicit Hook(std::vector<int> statuses) : statuses_(std::move(statuses)) {
    auto started = http::Server::start(
        {}, {.handle = [this](http::Exchange& exchange) { handle(exchange); }, .round_ended = {}});
    EXPECT_TRUE(started.has_value());
    server_ = *std::move(started);
    server_->release(UINT64_MAX);
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/hook", server_->port()); }
  std::vector<std::string> bodies() {
    std::lock_guard lock(mutex_);
    return bodies_;
  }

 private:
  void handle(http::Exchange& exchange) {
    int status = 200;
    {
      std::lock_guard lock(mutex_);
      if (bodies_.size() < statuses_.size()) status = statuses_[bodies_.size()];
      bodies_.emplace_back(exchange.request().body);
    }
    const std::size_t mark = http::begin_response(exchange.out(),
                                                  {.status = status,
                                                   .content_type = "text/plain",
                                                   .keep_alive = exchange.request().keep_alive});
    http::end_response(exchange.out(), mark);
    exchange.reply(0);
  }

  std::mutex mutex_;
  std::vector<int> statuses_;
  std::vector<std::string> bodies_;
  std::unique_ptr<http::Server> server_;
};

struct Deliveries : DispatchWorld {
  std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("dispatch-test-" + std::to_string(::getpid()));

  ~Deliveries() override {
    stop();
    std::filesystem::remove_all(root);
  }
  // Workers are threads: their results take a moment.
  template <class Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 2'000; ++i) {
      settle();
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
};

TEST_F(Deliveries, ABucketKeepsTheRecord) {
  auto opened = objects::Store::open({.root = root, .sync = objects::Sync::no});
  ASSERT_TRUE(opened.has_value());
  buckets = *std::move(opened);
  ASSERT_TRUE(buckets->create_bucket("archive", Timestamp(0)).has_value());
  auto made = mapping();
  made.retries_max = 0;
  made.on_failure = "arn:aws:s3:::archive";
  start(made);
  send("m");
  answer(raised());
  ASSERT_TRUE(eventually([&] { return in("orders").empty(); }));
  const auto listing = buckets->list("archive", {});
  ASSERT_TRUE(listing.has_value());
  ASSERT_EQ(listing->objects.size(), 1u);
  EXPECT_TRUE(listing->objects[0].key.starts_with("aws/lambda/m-orders/orders/2023/11/14/"))
      << listing->objects[0].key;
}

TEST_F(Deliveries, ABucketThatIsMissingKeepsTheMessageInItsQueue) {
  auto made = mapping();
  made.retries_max = 0;
  made.on_failure = "arn:aws:s3:::nowhere";
  start(made);
  send("m");
  answer(raised());
  ASSERT_TRUE(eventually([&] { return !log.empty(); }));
  EXPECT_EQ(in("orders"), Bodies{"m"});
}

TEST_F(Deliveries, AWebhookIsTriedAgain) {
  Hook hook({500, 200});
  auto made = mapping();
  made.on_success = hook.url();
  start(made);
  send("m");
  answer(returned());
  ASSERT_TRUE(eventually([&] { return hook.bodies().size() == 1; }));
  EXPECT_EQ(in("orders"), Bodies{"m"});
  ASSERT_TRUE(eventually([&] {
    dispatcher->strand().pass(std::chrono::milliseconds(100));
    return in("orders").empty();
  }));
  EXPECT_EQ(hook.bodies().size(), 2u);
  EXPECT_NE(hook.bodies()[0].find(R"("condition":"Success")"), std::string::npos);
}

// Two records, because one would exceed the message size limit; the second is refused at first.
TEST_F(Deliveries, AWebhookIsNotSentAgainWhatHasArrived) {
  Hook hook({200, 500, 200});
  auto made = mapping();
  made.on_success = hook.url();
  made.batch_size = 2;
  world.send("orders", std::string(600'000, 'a'));
  world.send("orders", std::string(600'000, 'b'));
  start(made);
  answer(returned());
  ASSERT_TRUE(eventually([&] {
    dispatcher->strand().pass(std::chrono::milliseconds(100));
    return in("orders").empty();
  }));
  const auto bodies = hook.bodies();
  ASSERT_EQ(bodies.size(), 3u);
  EXPECT_NE(bodies[0].find("aaaa"), std::string::npos);
  EXPECT_NE(bodies[1].find("bbbb"), std::string::npos);
  EXPECT_EQ(bodies[2], bodies[1]);
}

// The right to create a mapping must not let a client make the server call its own machine.
TEST_F(Deliveries, AWebhookOnThisMachineNeedsPermission) {
  Hook hook({});
  outgoing = {};
  auto made = mapping();
  made.retries_max = 0;
  made.on_failure = hook.url();
  start(made);
  send("m");
  answer(raised());
  ASSERT_TRUE(eventually([&] { return !log.empty(); }));
  EXPECT_NE(log[0].find("[outgoing] allow"), std::string::npos) << log[0];
  EXPECT_TRUE(hook.bodies().empty());
  EXPECT_EQ(in("orders"), Bodies{"m"});
}

TEST_F(Deliveries, AWebhookThatRefusesLeavesTheMessage) {
  Hook hook({500, 500, 500});
  auto made = mapping();
  made.retries_max = 0;
  made.on_failure = hook.url();
  start(made);
  send("m");
  answer(raised());
  ASSERT_TRUE(eventually([&] {
    dispatcher->strand().pass(std::chrono::milliseconds(100));
    return !log.empty();
  }));
  EXPECT_EQ(hook.bodies().size(), 3u);
  EXPECT_EQ(in("orders"), Bodies{"m"});
  pass(seconds(30));
  EXPECT_EQ(running().size(), 1u);
}

// Responds in its own threads, like a real invoker, mostly with success.
class ThreadedInvoker final : public runtime::Invoker {
 public:
  ~ThreadedInvoker() override {
    for (std::thread& thread : threads_) thread.join();
  }
  void invoke(std::shared_ptr<const runtime::FunctionSpec>, runtime::Invocation what,
              std::function<void(runtime::Outcome)> done) override {
    std::lock_guard lock(mutex_);
    const int number = ++invocations_;
    threads_.emplace_back([done = std::move(done), what = std::move(what), number] {
      done(number % 7 == 0 ? throttled() : number % 5 == 0 ? raised() : returned());
    });
  }
  void retire(const std::string&) override {}
  void forget(const std::string&) override {}
  std::vector<runtime::LogLine> logs(const std::string&, std::uint64_t, std::size_t) override {
    return {};
  }
  runtime::FunctionStats stats(const std::string&) override { return {}; }
  std::string isolation() const override { return "none"; }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  int invocations_ = 0;
};

// Whatever is in progress at a stop: every message was processed or is still there.
TEST(Threads, NothingIsLostWhateverHappensAtOnce) {
  engine::WorldOf<VirtualClock> world;
  queue::QueueSettings impatient;
  impatient.visibility_timeout = seconds(0);
  world.create("orders", impatient);
  ThreadedInvoker invoker;
  Definitions definitions;
  auto spec = std::make_shared<runtime::FunctionSpec>();
  spec->arn = DispatchWorld::function_id().arn();
  spec->name = "f";
  definitions.functions[spec->arn] = {DispatchWorld::function_id(), spec, {}, {}};
  definitions.mappings = {DispatchWorld::mapping()};
  definitions.mappings[0].batch_size = 3;
  world.engine().turn([&](engine::Turn& turn) {
    turn.commit(queue::EntryPut{queue::EntryKind::mapping, definitions.mappings[0].id, "{}"});
    turn.commit(queue::EntryPut{queue::EntryKind::function, spec->arn, "{}"});
  });
  Dispatcher dispatcher({.engine = world.engine(),
                         .invoker = invoker,
                         .buckets = nullptr,
                         .definitions = [&] { return definitions; }},
                        {.sync_wanted = [] {}, .log = [](std::string) {}},
                        {});
  dispatcher.reload();
  std::thread sender([&] {
    for (int i = 0; i < 200; ++i) {
      EXPECT_TRUE(world.try_send("orders", std::to_string(i)).has_value());
      if (i % 20 == 0) dispatcher.reload();
    }
  });
  std::thread caller([&] {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(
          dispatcher.invoke_async(DispatchWorld::function_id(), {.payload = "1"}).has_value());
    }
  });
  std::thread time([&] {
    engine::TimeTravel travel(world.engine(), world.clock);
    for (int i = 0; i < 100; ++i) travel.advance(seconds(1));
  });
  sender.join();
  caller.join();
  time.join();
  const auto left = [&] {
    return world.engine().turn([&](engine::Turn& turn) {
      return turn.state().mailbox(**turn.queue(identity_of("orders"))).size();
    });
  };
  // Incremented after the messages are deleted.
  const auto deleted = [&] { return dispatcher.stats().mappings.at("m-orders")->deleted.load(); };
  for (int i = 0; i < 5'000 && (left() > 0 || deleted() < 200); ++i) {
    world.engine().tick();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(left(), 0u);
  EXPECT_GE(deleted(), 200u);
  dispatcher.stop(std::chrono::seconds(5));
}

}  // namespace
}  // namespace redrive::dispatch
