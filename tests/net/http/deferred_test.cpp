#include <gtest/gtest.h>

#include <thread>

#include "net/http/server.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

// Whether resume() still finds the connection.
bool finds_connection(Service& service, const ReplyToken& token) {
  Mailbox<bool> found;
  service.server->resume(token, [&found](std::string* out) {
    found.put(out != nullptr);
    if (out != nullptr) write_text(*out, "resumed");
    return SyncPoint(0);
  });
  return found.take().value_or(false);
}

TEST(Deferred, IsAnsweredThroughItsTicket) {
  Service service;
  RawClient client(service.port());
  for (int i = 0; i < 3; ++i) {
    client.send(get("/defer"));
    const auto token = service.tokens.take();
    ASSERT_TRUE(token);
    EXPECT_FALSE(client.has_input());
    service.answer(*token, "late " + std::to_string(i));
    EXPECT_EQ(body_of(client.read_response()), "late " + std::to_string(i));
    EXPECT_FALSE(finds_connection(service, *token));  // Answered once.
  }
  EXPECT_EQ(service.abandoned.size(), 0u);
}

TEST(Deferred, AnswerMayBeHeldLikeAnyOther) {
  Service service;
  RawClient client(service.port());
  client.send(get("/defer"));
  service.answer(service.tokens.take().value(), "late", 3);
  EXPECT_TRUE(service.rounds.take());
  EXPECT_FALSE(client.has_input());
  service.server->release(3);
  EXPECT_EQ(body_of(client.read_response()), "late");
}

TEST(Deferred, KeepsFollowingRequestsForLater) {
  Service service;
  RawClient client(service.port());
  client.send(get("/defer") + get("/2"));
  const ReplyToken token = service.tokens.take().value();
  client.send(get("/3") + "GET /4 HTTP/1.1\r\n");
  service.answer(token, "1");
  EXPECT_EQ(body_of(client.read_response()), "1");
  EXPECT_EQ(body_of(client.read_response()), "GET /2 ");
  EXPECT_EQ(body_of(client.read_response()), "GET /3 ");
  client.send("Host: h\r\n\r\n");
  EXPECT_EQ(body_of(client.read_response()), "GET /4 ");
}

// More than is read ahead: reading stops, and continues after the response.
TEST(Deferred, DoesNotPileUpFollowingRequests) {
  Service service;
  RawClient client(service.port());
  client.send(get("/defer"));
  const ReplyToken token = service.tokens.take().value();
  std::string more;
  for (int i = 0; i < 5000; ++i) more += get("/more");
  std::thread sender([&] { client.send(more); });
  service.answer(token, "first");
  EXPECT_EQ(body_of(client.read_response()), "first");
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(body_of(client.read_response()), "GET /more ");
  sender.join();
}

TEST(Deferred, IsAbandonedOnceWhenTheClientGoes) {
  const struct {
    const char* name;
    void (*leave)(RawClient&);
  } cases[] = {
      {"closes", [](RawClient& client) { client.close(); }},
      {"resets", [](RawClient& client) { client.reset(); }},
      {"half-closes", [](RawClient& client) { client.close_sending(); }},
      {"sends more and closes",
       [](RawClient& client) {
         client.send(get("/more"));
         client.close();
       }},
  };
  Service service;
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    RawClient client(service.port());
    client.send(get("/defer"));
    const auto token = service.tokens.take();
    ASSERT_TRUE(token);
    one.leave(client);
    EXPECT_EQ(service.abandoned.take(), token->generation);
    EXPECT_FALSE(finds_connection(service, *token));
    EXPECT_EQ(service.abandoned.size(), 0u);
  }
}

// The slot is reused, the token is not.
TEST(Deferred, StaleTicketFindsNoOtherRequest) {
  Service service;
  RawClient first(service.port());
  first.send(get("/defer"));
  const ReplyToken stale = service.tokens.take().value();
  first.close();
  EXPECT_TRUE(service.abandoned.take());
  RawClient second(service.port());
  second.send(get("/defer"));
  const ReplyToken fresh = service.tokens.take().value();
  EXPECT_FALSE(finds_connection(service, stale));
  EXPECT_TRUE(finds_connection(service, fresh));
  EXPECT_EQ(body_of(second.read_response()), "resumed");
}

TEST(Deferred, IsAbandonedWhenTheServerEnds) {
  Service service;
  RawClient client(service.port());
  client.send(get("/defer"));
  const ReplyToken token = service.tokens.take().value();
  service.server.reset();
  EXPECT_EQ(service.abandoned.take(), token.generation);
  EXPECT_TRUE(client.at_end());
}

// Responses come from another thread while clients connect and disconnect.
TEST(Deferred, MeetsAnswersFromAnotherThread) {
  Service service({.threads = 2});
  std::thread consumer([&] {
    for (int i = 0; i < 400; ++i) {
      const auto token = service.tokens.take();
      ASSERT_TRUE(token);
      service.answer(*token, "late");
    }
  });
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&service, c] {
      for (int i = 0; i < 100; ++i) {
        RawClient client(service.port());
        client.send(get("/defer"));
        if ((i + c) % 2 == 0) continue;  // Disconnects without waiting.
        ASSERT_EQ(body_of(client.read_response()), "late");
      }
    });
  }
  for (std::thread& client : clients) client.join();
  consumer.join();
}

}  // namespace
}  // namespace redrive::http
