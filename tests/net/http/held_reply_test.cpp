#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "net/http/held_replies.h"
#include "net/http/server.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

TEST(HeldReply, LeavesWhenItsMarkIsReleased) {
  Service service;
  RawClient clients[] = {
      RawClient(service.port()), RawClient(service.port()), RawClient(service.port())};
  for (int i = 0; i < 3; ++i) {
    clients[i].send(get("/hold/" + std::to_string(i + 1)));
    EXPECT_EQ(service.holds.take(), SyncPoint(i + 1));
  }
  EXPECT_FALSE(clients[0].has_input());
  service.server->release(2);
  EXPECT_EQ(body_of(clients[0].read_response()), "held 1");
  EXPECT_EQ(body_of(clients[1].read_response()), "held 2");
  EXPECT_FALSE(clients[2].has_input());
  service.server->release(1);  // Sync points never go back.
  service.server->release(7);
  EXPECT_EQ(body_of(clients[2].read_response()), "held 3");
}

TEST(HeldReply, LeavesAtOnceWhenItsMarkWasReleasedBefore) {
  Service service;
  service.server->release(5);
  RawClient client(service.port());
  client.send(get("/hold/5"));
  EXPECT_EQ(body_of(client.read_response()), "held 5");
}

TEST(HeldReply, KeepsTheNextRequestWaiting) {
  Service service;
  RawClient client(service.port());
  client.send(get("/hold/1") + get("/hold/2") + get("/free"));
  EXPECT_EQ(service.holds.take(), SyncPoint(1));
  EXPECT_EQ(service.holds.size(), 0u);
  service.server->release(1);
  EXPECT_EQ(body_of(client.read_response()), "held 1");
  EXPECT_EQ(service.holds.take(), SyncPoint(2));
  service.server->release(2);
  EXPECT_EQ(body_of(client.read_response()), "held 2");
  EXPECT_EQ(body_of(client.read_response()), "GET /free ");
}

// One sync must serve all replies that were ready together.
TEST(HeldReply, EndsARoundOnceForAllThatWasReady) {
  Service service;
  RawClient clients[] = {
      RawClient(service.port()), RawClient(service.port()), RawClient(service.port())};
  for (RawClient& client : clients) {  // Ensures that the loop has accepted them.
    client.send(get("/"));
    client.read_response();
  }
  std::latch busy(1);
  std::latch sent(1);
  service.server->post(0, [&] {
    busy.count_down();
    sent.wait();
  });
  busy.wait();
  for (RawClient& client : clients) client.send(get("/hold/1"));
  sent.count_down();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(service.holds.take());
  EXPECT_TRUE(service.rounds.take());
  service.server->release(1);
  for (RawClient& client : clients) EXPECT_EQ(body_of(client.read_response()), "held 1");
  EXPECT_EQ(service.rounds.size(), 0u);
  clients[0].send(get("/hold/2"));
  EXPECT_TRUE(service.rounds.take());
}

// While one sync is in progress another would serve few: it is requested after the first is done.
TEST(HeldReply, TheNextRoundEndsAfterTheLastIsReleased) {
  Service service;
  RawClient first(service.port());
  RawClient second(service.port());
  first.send(get("/hold/1"));
  EXPECT_TRUE(service.rounds.take());
  second.send(get("/hold/2"));
  EXPECT_TRUE(service.holds.take());
  EXPECT_TRUE(service.holds.take());
  EXPECT_EQ(service.rounds.size(), 0u);
  service.server->release(1);
  EXPECT_EQ(body_of(first.read_response()), "held 1");
  EXPECT_TRUE(service.rounds.take());
  service.server->release(2);
  EXPECT_EQ(body_of(second.read_response()), "held 2");
}

TEST(HeldReply, IsWrittenToAClientThatFinishedSending) {
  Service service;
  RawClient client(service.port());
  client.send(get("/hold/1"));
  client.close_sending();
  EXPECT_TRUE(service.holds.take());
  service.server->release(1);
  EXPECT_EQ(body_of(client.read_response()), "held 1");
  EXPECT_TRUE(client.at_end());
}

TEST(HeldReply, OfAClientThatLeftIsDropped) {
  Service service;
  RawClient gone(service.port());
  gone.send(get("/hold/1"));
  EXPECT_TRUE(service.holds.take());
  gone.reset();
  RawClient client(service.port());
  client.send(get("/hold/2"));
  EXPECT_TRUE(service.holds.take());
  service.server->release(2);
  EXPECT_EQ(body_of(client.read_response()), "held 2");
}

TEST(HeldReply, NeverReleasedDoesNotHinderTheEnd) {
  Service service;
  RawClient client(service.port());
  client.send(get("/hold/1"));
  EXPECT_TRUE(service.holds.take());
  service.server.reset();
  EXPECT_TRUE(client.at_end());
}

TEST(HeldReplies, HandsOutInOrderUpToTheMark) {
  HeldReplies held;
  const auto connection = [](std::size_t i) { return reinterpret_cast<Connection*>(i * 4096); };
  EXPECT_EQ(held.first_sync_point(), HeldReplies::kNone);
  for (std::size_t i = 1; i <= 5000; ++i) held.push(i, *connection(i));
  for (std::size_t i = 1; i <= 5000; ++i) {
    EXPECT_EQ(held.first_sync_point(), i);
    EXPECT_EQ(held.pop(i - 1), nullptr);
    EXPECT_EQ(held.pop(i), connection(i));
  }
  EXPECT_TRUE(held.empty());
  EXPECT_EQ(held.first_sync_point(), HeldReplies::kNone);
}

// Two I/O threads, four clients, and a third thread that releases, like a journal.
TEST(HeldReply, MeetsReleasesFromAnotherThread) {
  constexpr int kClients = 4;
  constexpr int kRequests = 300;
  std::atomic<SyncPoint> last_sync_point = 0;
  Mailbox<SyncPoint> rounds;
  const auto handle = [&](Exchange& exchange) {
    write_text(exchange.out(), exchange.request().body);
    exchange.reply(last_sync_point.fetch_add(1) + 1);
  };
  auto server = Server::start({.threads = 2}, {.handle = handle, .round_ended = [&](bool) {
                                                 rounds.put(last_sync_point.load());
                                               }});
  ASSERT_TRUE(server);
  std::thread journal([&] {
    while (const SyncPoint point = rounds.take().value_or(0)) (*server)->release(point);
  });
  std::vector<std::thread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      RawClient client((*server)->port());
      for (int i = 0; i < kRequests; ++i) {
        const std::string body = std::to_string(c) + "/" + std::to_string(i);
        client.send(post("/", body));
        ASSERT_EQ(body_of(client.read_response()), body);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  rounds.put(0);
  journal.join();
  EXPECT_EQ(last_sync_point.load(), SyncPoint(kClients * kRequests));
}

// Replies wait in memory: when large ones accumulate, new requests get 503 before they are
// executed.
TEST(HeldReply, LargeOnesAreBoundedInSum) {
  Service service({.limits = {.unsent_bytes_max = 100'000}});
  RawClient first(service.port());
  first.send(get("/hold-large/1/150000"));
  ASSERT_TRUE(service.holds.take());
  RawClient second(service.port());
  second.send(get("/hold/2"));
  EXPECT_EQ(status_of(second.read_response()), 503);
  EXPECT_EQ(service.holds.size(), 0u);
  service.server->release(1);
  EXPECT_EQ(body_of(first.read_response()).size(), 150'000u);
  RawClient third(service.port());
  third.send(get("/third"));
  EXPECT_EQ(status_of(third.read_response()), 200);
}

}  // namespace
}  // namespace redrive::http
