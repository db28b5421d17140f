#include "manage/service.h"
#include "dead_letters/dead_letters.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "core/journal/journal.h"
#include "tests/base/eventually.h"
#include "tests/net/http/raw_client.h"

// The management API in one process: requests as bytes, a journal in memory.

namespace redrive::manage {
namespace {

using http::body_of;
using http::RawClient;
using http::status_of;

constexpr Timestamp kStart{1'767'225'600'000};  // 2026-01-01T00:00:00Z

class ManagementTest : public testing::Test {
 public:
  ManagementTest() {
    EXPECT_TRUE(store_.attach(*journal_).has_value());
    engine_ = std::make_unique<engine::Engine>(
        engine::Engine::Parts{store_, *journal_, clock_, ids_}, engine::Engine::Hooks{});
    dead_letters_.emplace(*engine_);
    time_.emplace(*engine_, clock_);
    open({.engine = *engine_,
          .dead_letters = *dead_letters_,
          .gate = gate_,
          .time = &*time_,
          .disposable = true});
    auto started = http::Server::start(
        {}, {.handle = [this](http::Exchange& e) { service_->handle(e); }, .round_ended = {}});
    EXPECT_TRUE(started.has_value());
    server_ = std::move(*started);
    server_->release(UINT64_MAX);
    client_ = std::make_unique<RawClient>(server_->port());
  }
  ~ManagementTest() override {
    client_.reset();
    server_->drain(std::chrono::seconds(5));
  }

  void open(const Parts& parts) { service_ = std::make_unique<Service>(parts); }
  std::string ask(std::string_view method, std::string_view path, std::string_view body = {}) {
    EXPECT_TRUE(
        client_->send(fmt::format("{} /_redrive/v1/{} HTTP/1.1\r\nHost: test:1\r\n"
                                  "Content-Length: {}\r\n\r\n{}",
                                  method,
                                  path,
                                  body.size(),
                                  body)));
    return client_->read_response();
  }
  void create(const std::string& name) {
    engine_->turn([&](engine::Turn& turn) {
      turn.commit(queue::QueueCreated{next(turn.state().last_queue()),
                                      queue::NameIndex::none,
                                      {"000000000000", "us-east-1", name},
                                      {},
                                      {}});
    });
  }

 protected:
  VirtualClock clock_{kStart};
  front::Gate gate_{{}, clock_};
  SeededIds ids_{1};
  store::Store store_;
  std::unique_ptr<journal::Journal> journal_ = journal::memory_journal({});
  std::unique_ptr<engine::Engine> engine_;
  std::optional<dead_letters::DeadLetters> dead_letters_;
  std::optional<engine::TimeTravel> time_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<RawClient> client_;
};

TEST_F(ManagementTest, RefusesWhenBusy) {
  open({.engine = *engine_,
        .dead_letters = *dead_letters_,
        .gate = gate_,
        .offload = [](http::Exchange&, auto, const auto&) { return false; }});
  const std::string answer = ask("GET", "overview");
  EXPECT_EQ(status_of(answer), 503);
  EXPECT_EQ(
      body_of(answer),
      R"({"error":{"code":"ServiceUnavailable","message":"The server is busy. Try again later."}})");
}

TEST_F(ManagementTest, SlowRoutesAreMarked) {
  const auto is_slow = [this](std::string_view method, std::string_view path) {
    http::Request request;
    request.method = method;
    request.path = path;
    return service_->pace(request) == front::Pace::slow;
  };
  EXPECT_TRUE(is_slow("GET", "/_redrive/v1/overview"));
  EXPECT_TRUE(is_slow("GET", "/_redrive/v1/queues/q/messages"));
  EXPECT_TRUE(is_slow("GET", "/_redrive/v1/lineage/x"));
  EXPECT_TRUE(is_slow("POST", "/_redrive/v1/queues/q/jobs"));
  EXPECT_FALSE(is_slow("POST", "/_redrive/v1/failures"));
  EXPECT_FALSE(is_slow("POST", "/_redrive/v1/clock/advance"));
  EXPECT_FALSE(is_slow("GET", "/_redrive/v1/nothing"));
}

TEST_F(ManagementTest, ShowsTheTime) {
  const std::string answer = ask("GET", "clock");
  EXPECT_EQ(status_of(answer), 200);
  EXPECT_NE(answer.find("Content-Type: application/json\r\n"), std::string::npos) << answer;
  EXPECT_EQ(
      body_of(answer),
      R"({"virtual":true,"now":"2026-01-01T00:00:00.000Z","epochMilliseconds":1767225600000,"waitingReceives":0,"heldSeconds":0})");
}

TEST_F(ManagementTest, MovesTimeAndReturnsIt) {
  const struct {
    const char* body;
    Duration by;
  } cases[] = {
      {R"({"seconds":900})", Duration(900'000)},
      {R"({"seconds":0.25})", Duration(250)},
      {R"({"seconds":1e2})", Duration(100'000)},
      {R"({"milliseconds":1})", Duration(1)},
      {R"({"milliseconds":1.6})", Duration(2)},
      {R"({"seconds":315360000})", std::chrono::days(3650)},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.body);
    const Timestamp before = engine_->now();
    const std::string answer = ask("POST", "clock/advance", each.body);
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_EQ(engine_->now(), before + each.by);
    const auto ms = fmt::format(R"("epochMilliseconds":{})", (before + each.by).ms());
    EXPECT_NE(answer.find(ms), std::string::npos) << answer;
  }
}

TEST_F(ManagementTest, OverviewHasTheLongestQueuesAndAllTotals) {
  for (const char* name : {"a", "b", "c"}) create(name);
  const std::string all = body_of(ask("GET", "overview"));
  EXPECT_NE(all.find(R"("queueCount":3,"visible":0,)"), std::string::npos) << all;
  EXPECT_NE(all.find(R"("queues":[{"name":"a","fifo":false,"visible":0,)"), std::string::npos);
  EXPECT_NE(all.find(R"("handlers":[],"jobs":[])"), std::string::npos);
  const std::string one = body_of(ask("GET", "overview?limit=1"));
  EXPECT_NE(one.find(R"("queueCount":3)"), std::string::npos) << one;
  EXPECT_EQ(one.find(R"("name":"b")"), std::string::npos) << one;
  EXPECT_EQ(status_of(ask("GET", "overview?limit=0")), 400);
}

TEST_F(ManagementTest, OverviewHasHandlersOfTheCallersAccountOnly) {
  open({.engine = *engine_, .dead_letters = *dead_letters_, .gate = gate_, .handlers = [] {
          documents::KeptHandler own{.account = "000000000000",
                                     .region = "us-east-1",
                                     .function = "charge",
                                     .mapping = "u-1",
                                     .queue_arn = "arn:aws:sqs:us-east-1:000000000000:a",
                                     .counts = {.function = {}, .runs = 7}};
          documents::KeptHandler other = own;
          other.account = "111111111111";
          other.function = "secret";
          return std::vector{own, other};
        }});
  const std::string all = body_of(ask("GET", "overview"));
  EXPECT_NE(all.find(R"("handlers":[{"function":"charge","mapping":"u-1","queueArn":"arn:)"),
            std::string::npos)
      << all;
  EXPECT_NE(all.find(R"("runs":7)"), std::string::npos);
  EXPECT_EQ(all.find("secret"), std::string::npos);
}

TEST_F(ManagementTest, RefusesToMoveTimeBackwardsOrTooFar) {
  const struct {
    const char* body;
    const char* code;
  } cases[] = {
      {"", "MissingParameter"},
      {"{}", "MissingParameter"},
      {R"({"minutes":1})", "MissingParameter"},
      {R"({"seconds":1,"milliseconds":1})", "MissingParameter"},
      {R"({"seconds":0})", "InvalidParameterValue"},
      {R"({"seconds":-1})", "InvalidParameterValue"},
      {R"({"seconds":0.0001})", "InvalidParameterValue"},
      {R"({"seconds":315360001})", "InvalidParameterValue"},
      {R"({"milliseconds":1e300})", "InvalidParameterValue"},
      {R"({"seconds":true})", "InvalidParameterValue"},
      {R"({"seconds":"soon"})", "InvalidParameterValue"},
      {R"([900])", "InvalidParameterValue"},
      {R"({"seconds":900)", "InvalidParameterValue"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.body);
    const std::string answer = ask("POST", "clock/advance", each.body);
    EXPECT_EQ(status_of(answer), 400);
    EXPECT_NE(answer.find(fmt::format(R"({{"error":{{"code":"{}","message":")", each.code)),
              std::string::npos)
        << answer;
  }
  EXPECT_EQ(clock_.wall(), kStart);
}

TEST_F(ManagementTest, TimeEndsWithTheCalendar) {
  clock_.advance(std::chrono::days(365 * 7970));
  EXPECT_EQ(status_of(ask("POST", "clock/advance", R"({"seconds":315360000})")), 400);
  EXPECT_EQ(status_of(ask("GET", "clock")), 200);
}

TEST_F(ManagementTest, ResetsADisposableServer) {
  create("a");
  create("b");
  EXPECT_EQ(body_of(ask("POST", "reset")), R"({"queues":2})");
  EXPECT_TRUE(store_.state().queues().empty());
  EXPECT_EQ(body_of(ask("POST", "reset")), R"({"queues":0})");
}

// Mappings and functions go with the rest, and whoever follows them is to know.
TEST_F(ManagementTest, AResetAnnouncesThatTheCatalogueIsEmpty) {
  int told = 0;
  open({.engine = *engine_,
        .dead_letters = *dead_letters_,
        .gate = gate_,
        .time = nullptr,
        .disposable = true,
        .catalogue_cleared = [&] { ++told; }});
  EXPECT_EQ(status_of(ask("POST", "reset")), 200);
  EXPECT_EQ(told, 1);
}

TEST_F(ManagementTest, AProductionServerRefusesResetAndClock) {
  open({.engine = *engine_,
        .dead_letters = *dead_letters_,
        .gate = gate_,
        .time = nullptr,
        .disposable = false});
  create("precious");
  const std::string reset = ask("POST", "reset");
  EXPECT_EQ(status_of(reset), 403);
  EXPECT_NE(reset.find("--virtual-clock"), std::string::npos) << reset;
  EXPECT_EQ(store_.state().queues().size(), 1u);
  EXPECT_EQ(status_of(ask("POST", "clock/advance", R"({"seconds":1})")), 403);
  EXPECT_NE(ask("GET", "clock").find(R"({"virtual":false,)"), std::string::npos);
}

TEST_F(ManagementTest, OtherMethodsGetTheAllowedOnes) {
  const std::string answer = ask("DELETE", "clock");
  EXPECT_EQ(status_of(answer), 405);
  EXPECT_NE(answer.find("\r\nAllow: GET\r\n"), std::string::npos) << answer;
  EXPECT_EQ(
      body_of(answer),
      R"({"error":{"code":"MethodNotAllowed","message":"This path does not support DELETE; it supports GET."}})");
}

TEST_F(ManagementTest, OtherPathsAreNotFound) {
  const std::string answer = ask("GET", R"(no"where)");
  EXPECT_EQ(status_of(answer), 404);
  EXPECT_NE(answer.find(R"({"error":{"code":"NotFound","message":"/_redrive/v1/no)"),
            std::string::npos)
      << answer;
  EXPECT_NE(answer.find(R"(no\"where)"), std::string::npos) << answer;
}

TEST_F(ManagementTest, ShowsItsDescription) {
  const std::string answer = ask("GET", "openapi.yaml");
  EXPECT_NE(answer.find("Content-Type: application/yaml\r\n"), std::string::npos);
  EXPECT_TRUE(body_of(answer).starts_with("openapi: 3.0.3\n"));
}

// Others stamp what they do while time moves: none of them may see one hand of the clock moved and
// the other not.
TEST_F(ManagementTest, EngineAndWallTimeMoveTogether) {
  const Duration apart = engine_->now() - clock_.wall();
  std::atomic<bool> done = false;
  std::thread traveller([&] {
    for (int i = 0; i < 2'000; ++i) time_->advance(std::chrono::seconds(1));
    done = true;
  });
  while (!done) {
    engine_->turn(
        [&](engine::Turn& turn) { EXPECT_EQ(turn.stamp().now - turn.stamp().wall, apart); });
  }
  traveller.join();
  EXPECT_EQ(clock_.wall(), kStart + std::chrono::seconds(2'000));
}

// The answer speaks of a record that is not durable yet.
TEST_F(ManagementTest, AnAnswerWaitsForTheJournal) {
  std::optional<RawClient> other;
  std::unique_ptr<http::Server> held;
  auto started = http::Server::start(
      {}, {.handle = [this](http::Exchange& e) { service_->handle(e); }, .round_ended = {}});
  ASSERT_TRUE(started.has_value());
  held = std::move(*started);
  other.emplace(held->port());
  const engine::Sequence before = engine_->appended();
  ASSERT_TRUE(
      other->send("POST /_redrive/v1/reset HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n"));
  ASSERT_TRUE(eventually([&] { return engine_->appended() != before; }));
  held->release(before);
  EXPECT_FALSE(other->has_input());
  held->release(engine_->appended());
  EXPECT_EQ(status_of(other->read_response()), 200);
  other.reset();
  held->drain(std::chrono::seconds(5));
}

}  // namespace
}  // namespace redrive::manage
