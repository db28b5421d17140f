#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>

#include "http/server.h"
#include "tests/http/raw_client.h"
#include "tests/http/service.h"

namespace redrive::http {
namespace {

// Keeps the I/O thread busy until it is let go, so that what comes in between is ready together.
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
  std::shared_ptr<std::latch> go_ = std::make_shared<std::latch>(1);  // Shared: both touch it last.
};

TEST(Gathered, AreAnsweredTogether) {
  Service service;
  RawClient first(service.port());
  RawClient second(service.port());
  RawClient third(service.port());
  for (RawClient* client : {&first, &second, &third}) {  // They are known to the loop.
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

// A server whose answers wait for a sync, which each end of a round performs at once, as on an idle
// machine.
struct Syncing {
  std::vector<Ticket> gathered;  // For the I/O thread, like `appended`.
  Mark appended = 0;
  std::unique_ptr<Server> server;
  std::atomic<Server*> syncs = nullptr;

  Syncing() {
    server = *Server::start(
        {},
        {.handle = [this](Exchange& exchange) { gathered.push_back(exchange.gather()); },
         .answer_gathered =
             [this] {
               ++appended;
               for (const Ticket& ticket : std::exchange(gathered, {})) {
                 server->answer(ticket, [this](std::string* out) {
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

// A request behind a gathered one is found while the answer before it is written: it must not wait
// for the next thing to happen on any socket.
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

// A timer that is due again in every pass of the loop, as the engine's is while it works in slices,
// is no reason to wait for more requests.
TEST(Gathered, ATimerInEveryPassDoesNotKeepTheRoundOpen) {
  std::atomic<int> calls = 0;
  std::atomic<int> calls_before = 0;
  std::atomic<int> calls_between = -1;
  std::atomic<Server*> running = nullptr;
  std::vector<Ticket> gathered;
  auto server = *Server::start({},
                               {.handle =
                                    [&](Exchange& exchange) {
                                      calls_before = calls.load();
                                      gathered.push_back(exchange.gather());
                                    },
                                .answer_gathered =
                                    [&] {
                                      calls_between = calls - calls_before;
                                      for (const Ticket& ticket : std::exchange(gathered, {})) {
                                        running.load()->answer(ticket, [](std::string* out) {
                                          if (out != nullptr) write_text(*out, "done");
                                          return Mark{0};
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

// A pipelined request does not wait either while the sync of another reply is under way.
TEST(Gathered, APipelinedRequestDoesNotWaitForTheSyncOfOthers) {
  Service service;
  RawClient first(service.port());
  RawClient second(service.port());
  for (RawClient* client : {&first, &second}) {
    client->send(get("/"));
    client->read_response();
  }
  const auto begun = std::chrono::steady_clock::now();
  for (Mark mark = 1; mark <= 20; mark += 2) {
    while (service.rounds.size() > 0) service.rounds.take();
    {
      const Blocked blocked(service);  // Both share a round.
      first.send(get("/hold/" + std::to_string(mark)) + get("/gather"));
      second.send(get("/hold/" + std::to_string(mark + 1)));
    }
    ASSERT_EQ(service.holds.take(), mark);
    ASSERT_EQ(service.holds.take(), mark + 1);
    ASSERT_TRUE(service.rounds.take());
    service.server->release(mark);
    first.read_response();
    EXPECT_EQ(body_of(first.read_response()), "one of 1");
    service.server->release(mark + 1);
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

// The client is gone before the pass is over: what was asked is done, the answer is dropped.
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
