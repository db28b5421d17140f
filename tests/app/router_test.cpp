#include "app/router.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace redrive::app {
namespace {

using Pace = http::OffloadPool::Pace;

// One request, answered at once.
class TestExchange final : public http::Exchange {
 public:
  explicit TestExchange(http::Request request) : request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }
  std::string& out() override { return out_; }
  void reply(http::SyncPoint) override { ++replies; }
  void measure(metrics::Histogram&) override {}
  http::ReplyToken gather() override { return {}; }
  http::ReplyToken defer(std::function<void()>) override { return {}; }

  int replies = 0;

 private:
  http::Request request_;
  std::string out_;
};

class RouterTest : public testing::Test {
 protected:
  EndpointTable table() {
    EndpointTable table;
    table.add(Api::sqs, {.handle = note("sqs")})
        .add(Api::lambda, {.handle = note("lambda")})
        .add(Api::s3, {.handle = note("s3")});
    add_offloaded(table, Api::management, "management", Pace::quick);
    add_offloaded(table, Api::metrics, "metrics", Pace::slow);
    add_offloaded(table, Api::cloudwatch, "cloudwatch", Pace::slow);
    add_offloaded(table, Api::iam, "iam", Pace::quick);
    add_offloaded(table, Api::sts, "sts", Pace::quick);
    add_offloaded(table, Api::ssm, "ssm", Pace::quick);
    add_offloaded(table, Api::console, "console", Pace::quick);
    return table;
  }
  std::function<void(http::Exchange&)> note(std::string what) {
    return [this, what](http::Exchange&) { events_.push_back(what); };
  }
  void add_offloaded(EndpointTable& table, Api api, const std::string& name, Pace pace) {
    using Choose = Pace (*)(const http::Request&);
    const Choose quick = [](const http::Request&) { return Pace::quick; };
    const Choose slow = [](const http::Request&) { return Pace::slow; };
    table.add(api,
              {.handle = note(name),
               .pace = pace == Pace::quick ? quick : slow,
               .refuse_busy = note(name + " is busy")});
  }
  Router router(std::optional<http::BrowserGuard> guard = std::nullopt) {
    return Router(
        table(),
        [this](http::Exchange& exchange, Pace pace, const Offload::Handler& handle) {
          events_.push_back(pace == Pace::quick ? "quick" : "slow");
          if (!busy_) handle(exchange);
          return !busy_;
        },
        std::move(guard));
  }
  std::vector<std::string> route(http::Request request,
                                 std::optional<http::BrowserGuard> guard = std::nullopt) {
    events_.clear();
    TestExchange exchange(std::move(request));
    router(std::move(guard)).handle(exchange);
    answer_ = exchange.out();
    return events_;
  }

  using Events = std::vector<std::string>;
  Events events_;
  std::string answer_;
  bool busy_ = false;
};

// SQS is the hot path; Lambda and S3 have pools of their own.
TEST_F(RouterTest, SomeApisRunOnTheIoThread) {
  busy_ = true;  // Of no consequence to these.
  EXPECT_EQ(route({.method = "POST", .headers = {{"x-amz-target", "AmazonSQS.SendMessage"}}}),
            Events{"sqs"});
  EXPECT_EQ(route({.method = "GET", .path = "/2015-03-31/functions/"}), Events{"lambda"});
  EXPECT_EQ(route({.method = "PUT", .path = "/bucket/key"}), Events{"s3"});
}

TEST_F(RouterTest, TheOthersRunInThePoolAtTheirPace) {
  EXPECT_EQ(route({.method = "GET", .path = "/_redrive/v1/overview"}),
            (Events{"quick", "management"}));
  EXPECT_EQ(route({.method = "GET", .path = "/metrics"}), (Events{"slow", "metrics"}));
}

TEST_F(RouterTest, AFullPoolIsAnsweredByTheApi) {
  busy_ = true;
  EXPECT_EQ(route({.method = "GET", .path = "/_redrive/v1/overview"}),
            (Events{"quick", "management is busy"}));
  EXPECT_EQ(route({.method = "GET", .path = "/metrics"}), (Events{"slow", "metrics is busy"}));
}

// Before any API sees the request.
TEST_F(RouterTest, AGuardRefusesWebPages) {
  const http::BrowserGuard guard({.listen_address = "127.0.0.1", .allowed_hosts = {}});
  const http::Request page{.method = "POST",
                           .path = "/",
                           .headers = {{"origin", "https://evil.example"}},
                           .host = "127.0.0.1:9324"};
  EXPECT_EQ(route(page, guard), Events{});
  EXPECT_TRUE(answer_.starts_with("HTTP/1.1 403 ")) << answer_;
  const http::Request tool{.method = "POST", .path = "/", .host = "127.0.0.1:9324"};
  EXPECT_EQ(route(tool, guard), Events{"sqs"});
}

TEST(EndpointTable, IsCompleteOnceEveryApiIsThere) {
  EndpointTable table;
  for (std::size_t i = 0; i < kApis; ++i) {
    EXPECT_FALSE(table.is_complete());
    table.add(static_cast<Api>(i), {.handle = [](http::Exchange&) {}});
  }
  EXPECT_TRUE(table.is_complete());
}

}  // namespace
}  // namespace redrive::app
