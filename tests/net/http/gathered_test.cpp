#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>

#include "net/http/server.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

// Blocks the I/O thread until it is released, so that requests arriving meanwhile are ready
// together.
class Blocked {
 public:
  explicit Blocked(Service& service) {
    const auto begun = std::make_shared<std::latch>(1);
    service.server->post(0, [begun, go = go_] {
      begun->count_down();
      go->wait();
    });
    begun->wait();
  }
  ~Blocked() { go_->count_down(); }

 private:
  // Shared: both sides may be the last to use it.
  std::shared_ptr<std::latch> go_ = std::make_shared<std::latch>(1);
};

TEST(Gathered, AreAnsweredTogether) {
  Service service;
  RawClient first(service.port());
  RawClient second(service.port());
  RawClient third(service.port());
  for (RawClient* client : {&first, &second, &third}) {  // Ensures that the loop has accepted them.
    client->send(get("/"));
    client->read_response();
  }
  {
    const Blocked blocked(service);
    for (RawClient* client : {&first, &second, &third}) client->send(get("/gather"));
  }
  for (RawClient* client : {&first, &second, &third}) {
    EXPECT_EQ(body_of(client->read_response()), "one of 3");
  }
}

TEST(Gathered, RequestsBehindOneAnotherAreOfDifferentPasses) {
  Service service;
  RawClient client(service.port());
  client.send(get("/gather") + get("/gather") + get("/last"));
  EXPECT_EQ(body_of(client.read_response()), "one of 1");
  EXPECT_EQ(body_of(client.read_response()), "one of 1");
  EXPECT_EQ(body_of(client.read_response()), "GET /last ");
}

// A server whose replies wait for a sync, which is performed immediately at the end of each round,
// as on an idle machine.
struct Syncing {
  std::vector<ReplyToken> gathered;  // Used by the I/O thread only, like `appended`.
  SyncPoint appended = 0;
  std::unique_ptr<Server> server;
  std::atomic<Server*> syncs = nullptr;

  Syncing() {
    server = *Server::start(
        {},
        {.handle = [this](Exchange& exchange) { gathered.push_back(exchange.gather()); },
         .answer_gathered =
             [this] {
               ++appended;
               for (const ReplyToken& token : std::exchange(gathered, {})) {
                 server->answer(token, [this](std::string* out) {
                   if (out != nullptr) write_text(*out, std::to_string(appended));
                   return appended;
                 });
               }
             },
         .round_ended = [this](bool) { syncs.load()->release(appended); }});
    syncs = server.get();
  }
  ~Syncing() { server.reset(); }
};

// Each lost wake-up would cost a tick of the loop, a second.
constexpr std::chrono::seconds kNoTicks{5};

// A request pipelined after a gathered one is found while the previous response is written: it must
// not wait for another event on any socket.
TEST(Gathered, APipelinedRequestWaitsForNothingButTheSyncBeforeIt) {
  constexpr int kRequests = 30;
  Syncing syncing;
  RawClient client(syncing.server->port());
  std::string requests;
  for (int i = 0; i < kRequests; ++i) requests += get("/");
  const auto begun = std::chrono::steady_clock::now();
  client.send(requests);
  for (int i = 1; i <= kRequests; ++i) {
    ASSERT_EQ(body_of(client.read_response()), std::to_string(i));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kNoTicks);
}

// A timer that is due in every pass of the loop, like the engine's while it works in slices, must
// not keep the round open.
TEST(Gathered, ATimerInEveryPassDoesNotKeepTheRoundOpen) {
  std::atomic<int> calls = 0;
  std::atomic<int> calls_before = 0;
  std::atomic<int> calls_between = -1;
  std::atomic<Server*> running = nullptr;
  std::vector<ReplyToken> gathered;
  auto server = *Server::start({},
                               {.handle =
                                    [&](Exchange& exchange) {
                                      calls_before = calls.load();
                                      gathered.push_back(exchange.gather());
                                    },
                                .answer_gathered =
                                    [&] {
                                      calls_between = calls - calls_before;
                                      for (const ReplyToken& token : std::exchange(gathered, {})) {
                                        running.load()->answer(token, [](std::string* out) {
                                          if (out != nullptr) write_text(*out, "done");
                                          return SyncPoint{0};
                                        });
                                      }
                                    },
                                .round_ended = [](bool) {}});
  running = server.get();
  std::function<void()> again = [&] {
    ++calls;
    running.load()->wake_after(std::chrono::milliseconds(0), again);
  };
  server->wake_after(std::chrono::milliseconds(0), again);
  RawClient client(server->port());
  for (int i = 0; i < 20; ++i) {
    client.send(get("/"));
    ASSERT_EQ(body_of(client.read_response()), "done");
    EXPECT_LE(calls_between, 3);
  }
  server.reset();
}

// Nor does a pipelined request wait while the sync of another reply is in progress.
TEST(Gathered, APipelinedRequestDoesNotWaitForTheSyncOfOthers) {
  Service service;
  RawClient first(service.port());
  RawClient second(service.port());
  for (RawClient* client : {&first, &second}) {
    client->send(get("/"));
    client->read_response();
  }
  const auto begun = std::chrono::steady_clock::now();
  for (SyncPoint point = 1; point <= 20; point += 2) {
    while (service.rounds.size() > 0) service.rounds.take();
    {
      const Blocked blocked(service);  // Both are in one round.
      first.send(get("/hold/" + std::to_string(point)) + get("/gather"));
      second.send(get("/hold/" + std::to_string(point + 1)));
    }
    ASSERT_EQ(service.holds.take(), point);
    ASSERT_EQ(service.holds.take(), point + 1);
    ASSERT_TRUE(service.rounds.take());
    service.server->release(point);
    first.read_response();
    EXPECT_EQ(body_of(first.read_response()), "one of 1");
    service.server->release(point + 1);
    second.read_response();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, kNoTicks);
}

TEST(Gathered, AClientThatStopsSendingIsAnswered) {
  Syncing syncing;
  RawClient client(syncing.server->port());
  client.send(get("/") + get("/") + get("/"));
  client.close_sending();
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(body_of(client.read_response()), std::to_string(i));
  EXPECT_TRUE(client.at_end());
}

// The client disconnects before the pass ends: the request is executed, the response is dropped.
TEST(Gathered, ClientsMayGoAway) {
  Service service;
  RawClient stays(service.port());
  stays.send(get("/"));
  stays.read_response();
  {
    std::optional<RawClient> leaves(std::in_place, service.port());
    leaves->send(get("/"));
    leaves->read_response();
    const Blocked blocked(service);
    leaves->send(get("/gather"));
    leaves.reset();
  }
  EXPECT_TRUE(service.found.take().has_value());
  stays.send(get("/gather"));
  EXPECT_EQ(body_of(stays.read_response()), "one of 1");
}

}  // namespace
}  // namespace redrive::http
