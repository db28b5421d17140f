#include <gtest/gtest.h>

#include <thread>

#include "net/http/server.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

TEST(Drain, ClosesIdleConnectionsAndTheDoor) {
  Service service({.threads = 2});
  RawClient used(service.port());
  used.send(get("/"));
  used.read_response();
  const auto begun = std::chrono::steady_clock::now();
  service.server->drain(1h);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
  EXPECT_TRUE(used.at_end());
  EXPECT_EQ(service.server->connections(), 0u);
  EXPECT_FALSE(RawClient(service.port()).connected());
}

TEST(Drain, AnswersWhatIsInHandFirst) {
  Service service;
  RawClient deferred(service.port());
  RawClient held(service.port());
  RawClient arriving(service.port());
  deferred.send(get("/defer"));
  held.send(get("/hold/1"));
  arriving.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\no");
  const ReplyToken token = service.tokens.take().value();
  EXPECT_TRUE(service.holds.take());
  RawClient idle(service.port());
  idle.send(get("/"));
  idle.read_response();

  std::thread drain([&] { service.server->drain(1h); });
  EXPECT_TRUE(idle.at_end());  // So draining has begun.
  arriving.send("k");
  const std::string response = arriving.read_response();
  EXPECT_EQ(body_of(response), "POST /a ok");
  EXPECT_NE(response.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(arriving.at_end());
  service.answer(token, "late");
  EXPECT_EQ(body_of(deferred.read_response()), "late");
  EXPECT_TRUE(deferred.at_end());
  service.server->release(1);
  EXPECT_EQ(body_of(held.read_response()), "held 1");
  drain.join();
  EXPECT_EQ(service.server->connections(), 0u);
}

TEST(Drain, ClosesWhatIsLeftWhenTheGraceIsOver) {
  Service service;
  RawClient deferred(service.port());
  RawClient held(service.port());
  deferred.send(get("/defer"));
  held.send(get("/hold/1"));
  const ReplyToken token = service.tokens.take().value();
  EXPECT_TRUE(service.holds.take());
  service.server->drain(10ms);
  EXPECT_EQ(service.server->connections(), 0u);
  EXPECT_EQ(service.abandoned.take(), token.generation);
  EXPECT_TRUE(deferred.at_end());
  EXPECT_TRUE(held.at_end());
  service.server->release(1);  // The reply's connection is gone.
  service.server->drain(10ms);
}

}  // namespace
}  // namespace redrive::http
