#include "net/http/limits.h"

#include <gtest/gtest.h>

#include <thread>

#include "net/http/server.h"
#include "tests/base/eventually.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

TEST(Limits, ConnectionsBeyondTheMaximumAreRefused) {
  Service service({.limits = {.connections_max = 2}});
  RawClient first(service.port());
  RawClient second(service.port());
  for (RawClient* client : {&first, &second}) {
    client->send(get("/"));
    EXPECT_EQ(status_of(client->read_response()), 200);
  }
  RawClient third(service.port());
  const std::string answer = third.read_to_end();
  EXPECT_EQ(status_of(answer), 503);
  EXPECT_EQ(body_of(answer), "Too many connections.\n");
  EXPECT_EQ(service.server->connections(), 2u);

  first.send(get("/", "Connection: close\r\n"));
  first.read_to_end();
  RawClient fourth(service.port());  // There is room again.
  fourth.send(get("/"));
  EXPECT_EQ(status_of(fourth.read_response()), 200);
}

TEST(Limits, SlowRequestsAreEnded) {
  const struct {
    const char* name;
    std::string bytes;
  } cases[] = {
      {"head", "GET / HT"},
      {"body", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhel"},
      {"chunks", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"},
      {"second request", get("/") + "GET /"},
  };
  Service service({.limits = {.request_time_max = 40ms, .idle_time_max = 1h}});
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    RawClient client(service.port());
    client.send(one.bytes);
    std::string response = client.read_response();
    if (status_of(response) == 200) response = client.read_response();
    EXPECT_EQ(status_of(response), 408);
    EXPECT_TRUE(client.at_end());
  }
}

// Sending a byte now and then does not extend the time.
TEST(Limits, RequestTimeCountsFromItsFirstByte) {
  Service service({.limits = {.request_time_max = 100ms, .idle_time_max = 1h}});
  RawClient client(service.port());
  client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n");
  const auto begun = std::chrono::steady_clock::now();
  while (!client.has_input() && std::chrono::steady_clock::now() - begun < 10s) {
    client.send("a");
    std::this_thread::yield();
  }
  EXPECT_EQ(status_of(client.read_response()), 408);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
}

TEST(Limits, IdleConnectionsAreClosedSilently) {
  // Long enough for a slow machine to send a request in time.
  Service service({.limits = {.request_time_max = 1h, .idle_time_max = 500ms}});
  RawClient fresh(service.port());
  EXPECT_TRUE(fresh.at_end());
  RawClient used(service.port());
  used.send(get("/"));
  EXPECT_EQ(status_of(used.read_response()), 200);
  EXPECT_TRUE(used.at_end());
}

// Time spent waiting in the server is not charged to the client.
TEST(Limits, LimitsDoNotApplyWhileTheServerWorks) {
  Service service({.limits = {.request_time_max = 500ms, .idle_time_max = 500ms}});
  RawClient deferred(service.port());
  deferred.send(get("/defer"));
  RawClient held(service.port());
  held.send(get("/hold/1"));
  const ReplyToken token = service.tokens.take().value();
  EXPECT_TRUE(service.holds.take());
  RawClient clock(service.port());
  EXPECT_TRUE(clock.at_end());  // Idle since then, and closed: the time is over.
  service.answer(token, "late");
  service.server->release(1);
  EXPECT_EQ(body_of(deferred.read_response()), "late");
  EXPECT_EQ(body_of(held.read_response()), "held 1");
}

TEST(Limits, ClientThatDoesNotReadItsAnswerIsClosed) {
  Service service(
      {.limits = {.request_time_max = 1h, .idle_time_max = 1h, .reply_time_max = 40ms}});
  RawClient client(service.port());
  client.send(get("/large/50000000"));
  EXPECT_TRUE(eventually([&] { return client.has_input(); }));
  EXPECT_TRUE(eventually([&] { return service.server->connections() == 0; }));
  EXPECT_LT(client.read_to_end().size(), 50'000'000u);
}

// Reading a byte now and then does not count as reading the response.
TEST(Limits, ClientThatReadsItsAnswerTooSlowlyIsClosed) {
  Service service(
      {.limits = {.request_time_max = 1h, .idle_time_max = 1h, .reply_time_max = 40ms}});
  RawClient client(service.port());
  client.send(get("/large/50000000"));
  EXPECT_TRUE(eventually([&] {
    client.read_some(1);
    return service.server->connections() == 0;
  }));
}

// A deferred or held request may have waited longer than a client has for reading its response.
TEST(Limits, TimeToReadAnAnswerStartsWithTheAnswer) {
  Service service(
      {.limits = {.request_time_max = 1h, .idle_time_max = 1h, .reply_time_max = 500ms}});
  RawClient client(service.port());
  client.send(get("/hold/1") + get("/large/8000000"));
  ASSERT_TRUE(service.holds.take());
  std::this_thread::sleep_for(700ms);  // The sweep uses the real clock, which is what is tested.
  service.server->release(1);
  EXPECT_EQ(body_of(client.read_response()), "held 1");
  EXPECT_EQ(body_of(client.read_response()).size(), 8'000'000u);
}

// Many large requests that never complete: those beyond the budget are refused, small ones still
// served.
TEST(Limits, UnfinishedRequestsShareABudget) {
  constexpr std::size_t kBudget = 4u << 20;
  Service service({.limits = {.body_bytes_max = 1u << 20, .unfinished_bytes_max = kBudget}});
  const std::string part =
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n" + std::string(900'000, 'x');
  std::vector<std::unique_ptr<RawClient>> hogs;
  int refused = 0;
  for (int i = 0; i < 8; ++i) {
    hogs.push_back(std::make_unique<RawClient>(service.port()));
    hogs.back()->send(part);
  }
  const auto count_refused = [&] {
    refused = 0;
    for (const auto& hog : hogs) refused += hog->has_input();
    return refused;
  };
  EXPECT_TRUE(eventually([&] { return count_refused() == 5; }))
      << refused;  // Three fit into three quarters of the budget.
  for (const auto& hog : hogs) {
    if (!hog->has_input()) continue;
    EXPECT_EQ(status_of(hog->read_response()), 503);
  }

  RawClient small(service.port());
  small.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nab");
  RawClient whole(service.port());
  whole.send(post("/whole", std::string(10'000, 'y')));
  EXPECT_EQ(status_of(whole.read_response()), 200);
  small.send("cd");
  EXPECT_EQ(body_of(small.read_response()), "POST / abcd");

  hogs.clear();
  ASSERT_TRUE(eventually([&] { return service.server->connections() <= 2; }));
  RawClient large(service.port());
  large.send(part);
  large.send(std::string(100'000, 'x'));
  EXPECT_EQ(status_of(large.read_response()), 200);
}

// Unread responses share a budget, too.
TEST(Limits, UnsentAnswersShareABudget) {
  Service service({.limits = {.unsent_bytes_max = 100'000'000}});
  std::vector<std::unique_ptr<RawClient>> hogs;
  for (int i = 0; i < 6; ++i) {
    hogs.push_back(std::make_unique<RawClient>(service.port()));
    hogs.back()->send(get("/large/30000000"));
  }
  for (const auto& hog : hogs) {
    ASSERT_TRUE(eventually([&] { return hog->has_input(); }));
  }
  EXPECT_TRUE(eventually([&] { return service.server->connections() == 3; }));
  RawClient good(service.port());
  good.send(get("/good"));
  EXPECT_EQ(body_of(good.read_response()), "GET /good ");
  int whole = 0;
  for (const auto& hog : hogs) whole += body_of(hog->read_response()).size() == 30'000'000;
  EXPECT_EQ(whole, 3);
}

}  // namespace
}  // namespace redrive::http
