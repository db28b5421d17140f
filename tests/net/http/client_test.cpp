#include "net/http/client.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "net/http/server.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

// Echoes the request, so that it can be inspected.
void reflect(Exchange& exchange) {
  const Request& request = exchange.request();
  const Header headers[] = {{.name = "X-Method", .value = request.method},
                            {.name = "X-Seen", .value = request.header("x-sent")},
                            {.name = "X-Type", .value = request.header("content-type")},
                            {.name = "X-Expect", .value = request.header("expect")},
                            {.name = "Location", .value = "http://127.0.0.1:1/elsewhere"}};
  const int status = request.path == "/moved" ? 302 : 200;
  const std::size_t mark = begin_response(exchange.out(), {.status = status, .headers = headers});
  exchange.out().append(request.body);
  end_response(exchange.out(), mark);
  exchange.reply(0);
}

struct ClientTest : testing::Test {
  std::unique_ptr<Server> server =
      std::move(*Server::start({}, {.handle = reflect, .round_ended = {}}));
  Client client;

  std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(server->port()) + std::string(path);
  }
};

TEST_F(ClientTest, SendsMethodHeadersAndBody) {
  const struct {
    const char* method;
    std::string body;
  } cases[] = {{"POST", "hello"},
               {"POST", ""},
               {"PUT", std::string(3u << 20, 'x')},
               {"GET", ""},
               {"DELETE", ""}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.method);
    const auto response = client.send(
        {.method = one.method, .url = url("/"), .headers = {{"X-Sent", "a, b"}}, .body = one.body});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->body, one.body);
    EXPECT_EQ(response->header("x-method"), one.method);
    EXPECT_EQ(response->header("X-SEEN"), "a, b");
    EXPECT_EQ(response->header("X-Type"), "");
    EXPECT_EQ(response->header("X-Expect"), "");
    EXPECT_EQ(response->header("X-None"), "");
  }
  EXPECT_EQ(server->connections(), 1u);  // Kept alive.
}

TEST_F(ClientTest, AsksForHeadWithoutWaitingForABody) {
  const auto response = client.send({.method = "HEAD", .url = url("/"), .timeout = 5s});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->header("Content-Length"), "0");
}

TEST_F(ClientTest, FollowsNoRedirect) {
  const auto response = client.send({.method = "GET", .url = url("/moved")});
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 302);
}

TEST_F(ClientTest, UsesNoProxyForThisMachine) {
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto response = client.send({.url = url("/"), .body = "direct"});
  ::unsetenv("http_proxy");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "direct");
}

TEST_F(ClientTest, SaysWhyNoAnswerCame) {
  const struct {
    const char* name;
    ClientRequest request;
  } cases[] = {
      {"nobody there", {.url = "http://127.0.0.1:1/"}},
      {"no host", {.url = "http://"}},
      {"other protocol", {.url = "file:///etc/hostname"}},
      {"line break in a header", {.url = url("/"), .headers = {{"A", "b\r\nC: d"}}}},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    const auto response = client.send(one.request);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().code, ErrorCode::network);
    EXPECT_FALSE(response.error().message.empty());
  }
  EXPECT_TRUE(client.send({.url = url("/")}));  // The client is still usable.
}

TEST_F(ClientTest, GivesUpAfterItsTimeout) {
  Service silent;
  const auto response = client.send(
      {.url = "http://127.0.0.1:" + std::to_string(silent.port()) + "/defer", .timeout = 50ms});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ErrorCode::network);
}

}  // namespace
}  // namespace redrive::http
