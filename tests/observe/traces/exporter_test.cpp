#include "observe/traces/exporter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "net/http/server.h"
#include "tests/base/eventually.h"

namespace redrive::traces {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

Span named(const std::string& name) {
  return {.trace = {1},
          .id = {2},
          .parent = {},
          .link = SpanId{3},
          .name = name,
          .start_wall = Timestamp(1'000),
          .end_wall = Timestamp(1'500),
          .attributes = {{"queue", "a \"b\""}},
          .error = {}};
}

TEST(OtlpDocument, HasIdsInHexadecimalAndTimesInNanoseconds) {
  Span failed = named("orders receive");
  failed.parent = SpanId{4};
  failed.error = "no";
  const Span spans[] = {failed, named("second")};
  const std::string document = otlp_document(spans);
  EXPECT_THAT(
      document,
      HasSubstr(R"("traceId":"01000000000000000000000000000000","spanId":"0200000000000000",)"
                R"("parentSpanId":"0400000000000000","name":"orders receive","kind":1,)"
                R"("startTimeUnixNano":"1000000000","endTimeUnixNano":"1500000000",)"
                R"("attributes":[{"key":"queue","value":{"stringValue":"a \"b\""}}],)"
                R"("links":[{"traceId":"01000000000000000000000000000000",)"
                R"("spanId":"0300000000000000"}],"status":{"code":2,"message":"no"}})"));
  EXPECT_THAT(document, HasSubstr(R"("name":"second")"));
}

// Accepts or refuses what it is sent.
class Collector {
 public:
  explicit Collector(int status) {
    auto started = http::Server::start(
        {},
        {.handle = [this, status](http::Exchange& exchange) { take(exchange, status); },
         .round_ended = {}});
    EXPECT_TRUE(started.has_value());
    server_ = std::move(*started);
    server_->release(UINT64_MAX);
  }
  ~Collector() { server_->drain(5s); }

  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  std::string wait_for_body() {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, 30s, [&] { return !body_.empty(); });
    return path_ + " " + body_;
  }

 private:
  void take(http::Exchange& exchange, int status) {
    {
      const std::lock_guard lock(mutex_);
      path_ = exchange.request().path;
      body_ = exchange.request().body;
    }
    const std::size_t mark = http::begin_response(
        exchange.out(), {.status = status, .content_type = "application/json"});
    http::end_response(exchange.out(), mark);
    exchange.reply(0);
    came_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::string path_;
  std::string body_;
  std::unique_ptr<http::Server> server_;
};

TEST(Exporter, SendsSpansAddedNowAndLater) {
  Collector collector(200);
  {
    Exporter exporter({.endpoint = collector.endpoint(), .pause = 1ms});
    exporter.add_later([](Exporter& own) { own.add(named("made later")); });
    EXPECT_THAT(collector.wait_for_body(), HasSubstr("/v1/traces {\"resourceSpans\""));
  }
  EXPECT_THAT(collector.wait_for_body(), HasSubstr("made later"));
}

TEST(Exporter, RefusedSpansAreCountedAndLoggedOnce) {
  Collector collector(503);
  std::mutex mutex;
  std::vector<std::string> lines;
  {
    Exporter exporter({.endpoint = collector.endpoint(),
                       .batch_max = 1,
                       .pause = 1ms,
                       .log = [&](std::string line) {
                         const std::lock_guard lock(mutex);
                         lines.push_back(std::move(line));
                       }});
    exporter.add(named("one"));
    exporter.add(named("two"));
    EXPECT_TRUE(eventually([&] { return exporter.dropped() == 2; }));
    EXPECT_EQ(exporter.sent(), 0u);
  }
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("does not accept spans: it responds with status 503"));
}

TEST(Exporter, NeverBlocksAndIsBounded) {
  // Nothing listens on port 1, and the first batch is not sent before the pause is over.
  Exporter exporter({.endpoint = "http://127.0.0.1:1", .spans_max = 3, .batch_max = 10});
  for (int i = 0; i < 10; ++i) exporter.add(named("span"));
  EXPECT_GE(exporter.dropped(), 7u);
}

}  // namespace
}  // namespace redrive::traces
