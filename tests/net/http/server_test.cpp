#include "net/http/server.h"

#include <gtest/gtest.h>

#include <thread>

#include "net/http/connection.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

TEST(Server, AnswersManyRequestsOnOneConnection) {
  Service service;
  RawClient client(service.port());
  for (int i = 0; i < 100; ++i) {
    const std::string body = std::to_string(i);
    ASSERT_TRUE(client.send(post("/p", body)));
    ASSERT_EQ(body_of(client.read_response()), "POST /p " + body);
  }
  EXPECT_EQ(service.server->connections(), 1u);
}

// A slow handler shows in both numbers.
TEST(Server, MeasuresItsLoops) {
  auto started = Server::start({},
                               {.handle =
                                    [](Exchange& exchange) {
                                      if (exchange.request().path == "/slow") {
                                        std::this_thread::sleep_for(20ms);  // To be measured.
                                      }
                                      write_text(exchange.out(), "done");
                                      exchange.reply(0);
                                    },
                                .round_ended = {}});
  ASSERT_TRUE(started);
  Server& server = **started;
  RawClient client(server.port());
  for (int i = 0; i < 10; ++i) {
    client.send(get("/"));
    client.read_response();
  }
  client.send(get("/slow"));
  client.read_response();
  client.send(get("/"));
  client.read_response();
  const Server::Totals totals = server.totals();
  EXPECT_GE(totals.handler_micros_max, 20'000u);
  EXPECT_GE(totals.pass_micros.total(), 11u);
  EXPECT_GE(totals.pass_micros.sum, 20'000u);
  std::uint64_t long_passes = 0;
  for (std::size_t i = 15; i < metrics::Distribution::kBuckets; ++i) {
    long_passes += totals.pass_micros.counts[i];  // Above 16 ms.
  }
  EXPECT_GE(long_passes, 1u);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  Service service;
  RawClient client(service.port());
  std::string requests;
  for (int i = 0; i < 5000; ++i) requests += post("/p", std::to_string(i));  // Many buffers full.
  std::thread sender([&] { client.send(requests); });
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(body_of(client.read_response()), "POST /p " + std::to_string(i));
  }
  sender.join();
}

TEST(Server, ReadsBodiesOfEveryShape) {
  Service service;
  RawClient client(service.port());
  const std::string megabytes(3u << 20, 'b');
  std::string chunked = "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 1000; ++i) chunked += "3e8\r\n" + std::string(1000, 'c') + "\r\n";
  chunked += "0\r\n\r\n";
  const struct {
    const char* name;
    std::string bytes;
    std::string expected;
  } cases[] = {
      {"none", get("/n"), "GET /n "},
      {"large", post("/l", megabytes), "POST /l " + megabytes},
      {"chunked", chunked, "POST /c " + std::string(1'000'000, 'c')},
      {"none again", get("/n"), "GET /n "},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    std::thread sender([&] { client.send(one.bytes); });
    EXPECT_EQ(body_of(client.read_response()), one.expected);
    sender.join();
  }
}

TEST(Server, SendsResponsesLargerThanTheSocketTakes) {
  Service service;
  RawClient client(service.port());
  client.send(get("/large/20000000") + get("/after"));
  EXPECT_EQ(body_of(client.read_response()).size(), 20'000'000u);
  EXPECT_EQ(body_of(client.read_response()), "GET /after ");
}

TEST(Server, TellsAWaitingClientToContinue) {
  Service service;
  RawClient client(service.port());
  client.send("POST /e HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.read_response(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  EXPECT_EQ(body_of(client.read_response()), "POST /e ok");
}

TEST(Server, LeavesOutTheBodyForHead) {
  Service service;
  RawClient client(service.port());
  client.send("HEAD /h HTTP/1.1\r\nHost: h\r\n\r\n" + get("/next"));
  const std::string head = client.read_response(/*to_head=*/true);
  EXPECT_NE(head.find("Content-Length: 8\r\n"), std::string::npos) << head;
  EXPECT_EQ(body_of(client.read_response()), "GET /next ");
}

TEST(Server, FollowsTheWishToCloseOrToKeepAlive) {
  const struct {
    const char* name;
    std::string request;
    bool closes;
    bool says_keep_alive;
  } cases[] = {
      {"1.1", get("/"), false, false},
      {"1.1 close", get("/", "Connection: close\r\n"), true, false},
      {"1.0", "GET / HTTP/1.0\r\n\r\n", true, false},
      {"1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, true},
  };
  Service service;
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    RawClient client(service.port());
    client.send(one.request);
    const std::string response = client.read_response();
    EXPECT_EQ(response.find("Connection: close") != std::string::npos, one.closes);
    EXPECT_EQ(response.find("Connection: keep-alive") != std::string::npos, one.says_keep_alive);
    if (one.closes) {
      EXPECT_TRUE(client.at_end());
    } else {
      client.send(get("/again"));
      EXPECT_EQ(body_of(client.read_response()), "GET /again ");
    }
  }
}

// The client gets the reason, even if it was still sending.
TEST(Server, ExplainsARefusalAndCloses) {
  Service service;
  RawClient client(service.port());
  client.send(get("/fine") + "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n");
  client.send(std::string(1u << 20, 'x'));
  EXPECT_EQ(status_of(client.read_response()), 200);
  const std::string refusal = client.read_response();
  EXPECT_EQ(status_of(refusal), 413);
  EXPECT_NE(refusal.find("Connection: close"), std::string::npos);
  EXPECT_EQ(body_of(refusal), "The body is too large.\n");
  client.send(std::string(1u << 20, 'x'));
  EXPECT_TRUE(client.at_end());
}

TEST(Server, AnswersAClientThatHasFinishedSending) {
  Service service;
  RawClient client(service.port());
  client.send(get("/1") + get("/2"));
  client.close_sending();
  EXPECT_EQ(body_of(client.read_response()), "GET /1 ");
  EXPECT_EQ(body_of(client.read_response()), "GET /2 ");
  EXPECT_TRUE(client.at_end());
}

TEST(Server, KnowsThePeer) {
  Mailbox<std::string> peers;
  const auto handle = [&](Exchange& exchange) {
    peers.put(std::string(exchange.request().peer));
    write_text(exchange.out(), "");
    exchange.reply(0);
  };
  const auto server = Server::start({}, {.handle = handle, .round_ended = {}});
  ASSERT_TRUE(server);
  RawClient client((*server)->port());
  client.send(get("/"));
  EXPECT_EQ(peers.take(), "127.0.0.1");
}

TEST(Server, GivesBodiesReadablePadding) {
  Mailbox<std::size_t> sums;
  const auto handle = [&](Exchange& exchange) {
    const std::string_view body = exchange.request().body;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < kBodyPadding; ++i) sum += body.data()[body.size() + i] & 1;
    sums.put(sum);  // Checked by ASan.
    write_text(exchange.out(), "");
    exchange.reply(0);
  };
  const auto server = Server::start({}, {.handle = handle, .round_ended = {}});
  ASSERT_TRUE(server);
  RawClient client((*server)->port());
  for (const std::size_t bytes : {1u, 4000u, 65536u, 300'000u}) {
    client.send(post("/", std::string(bytes, 'x')));
    EXPECT_TRUE(sums.take());
  }
}

TEST(Server, SaysWhyItCannotListen) {
  Service first;
  const auto second = Server::start({.port = first.port()}, {});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
  EXPECT_FALSE(Server::start({.address = "192.0.2.1"}, {}));  // Reserved for documentation.
}

// A client that connects before the server runs is answered as soon as it does.
TEST(Server, HandlesRequestsOnceItRuns) {
  auto server = Server::open({});
  ASSERT_TRUE(server);
  RawClient early((*server)->port());
  early.send(get("/"));
  const auto handle = [](Exchange& exchange) {
    write_text(exchange.out(), "done");
    exchange.reply(0);
  };
  ASSERT_TRUE((*server)->run({.handle = handle, .round_ended = {}}));
  EXPECT_EQ(body_of(early.read_response()), "done");
}

TEST(Server, MayEndWithoutHavingRun) {
  auto server = Server::open({});
  ASSERT_TRUE(server);
  const std::uint16_t port = (*server)->port();
  (*server)->wake_after(0ms, [] { FAIL() << "no thread of this server ever ran"; });
  server->reset();
  EXPECT_TRUE(Server::open({.port = port}));  // The port is free again.
}

TEST(Server, RunsPostedWorkOnTheThreadAskedFor) {
  Service service({.threads = 2});
  Mailbox<std::pair<unsigned, std::thread::id>> runs;
  for (const unsigned index : {0u, 1u, 2u, 3u}) {
    service.server->post(index, [&runs, index] { runs.put({index, std::this_thread::get_id()}); });
  }
  std::thread::id ids[4];
  for (int i = 0; i < 4; ++i) {
    const auto run = runs.take();
    ASSERT_TRUE(run);
    ids[run->first] = run->second;
  }
  EXPECT_EQ(ids[0], ids[2]);
  EXPECT_EQ(ids[1], ids[3]);
  EXPECT_NE(ids[0], ids[1]);
}

TEST(Server, WakesOnceAtTheTimeSetLast) {
  Service service;
  Mailbox<std::string> woken;
  const auto begun = std::chrono::steady_clock::now();
  service.server->wake_after(1h, [&] { woken.put("never"); });
  service.server->wake_after(10min, [&] { woken.put("nor this"); });
  service.server->wake_after(30ms, [&] { woken.put("later"); });
  EXPECT_EQ(woken.take(), "later");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 30ms);
  service.server->wake_after(0ms, [&] { woken.put("again"); });
  EXPECT_EQ(woken.take(), "again");
  EXPECT_EQ(woken.size(), 0u);
}

// Even if the timer is set again while the server is stopping. Hangs on failure.
TEST(Server, EndsWithoutWaitingForItsTimer) {
  Server* running = nullptr;
  Mailbox<int> deferred;
  const auto handle = [&](Exchange& exchange) {
    exchange.defer([&running] { running->wake_after(1h, [] {}); });
    deferred.put(1);
  };
  auto server = Server::start({}, {.handle = handle, .round_ended = {}});
  ASSERT_TRUE(server);
  running = server->get();
  RawClient client(running->port());
  client.send(get("/"));
  EXPECT_TRUE(deferred.take());
  running->wake_after(1h, [] {});
  server->reset();
  EXPECT_TRUE(client.at_end());
}

// Ten thousand idle clients should cost megabytes, not hundreds of them.
TEST(Server, SpendsLittleOnAnIdleConnection) {
  EXPECT_LE(sizeof(Connection), 1024u);
}

}  // namespace
}  // namespace redrive::http
