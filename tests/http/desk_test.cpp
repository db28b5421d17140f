#include "http/desk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "tests/http/raw_client.h"
#include "tests/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

void answer_text(const Desk::Task& task, std::string text, Mark after = 0,
                 metrics::Histogram* times = nullptr) {
  task.answer(
      [text = std::move(text), after](std::string& out) {
        write_text(out, text);
        return after;
      },
      times);
}

// A server all of whose requests go to a desk; those that find no room are told "busy".
struct Bureau {
  Mailbox<Desk::TaskPtr> tasks;
  Desk desk;
  std::unique_ptr<Server> server;

  Bureau() : Bureau([this](const Desk::TaskPtr& task) { tasks.put(task); }, {}) {}
  Bureau(std::function<void(const Desk::TaskPtr&)> serve, Desk::Limits limits)
      : desk(std::move(serve), limits) {
    const auto handle = [this](Exchange& exchange) {
      if (desk.take(exchange)) return;
      write_text(exchange.out(), "busy");
      exchange.reply(0);
    };
    server = std::move(*Server::start({}, {.handle = handle, .round_ended = {}}));
    desk.attach(*server);
  }
  ~Bureau() {
    desk.stop();
    server.reset();
  }
};

std::string post(std::string_view path, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: here\r\nX-One: 1\r\nContent-Length: {}\r\n\r\n{}",
                     path,
                     body.size(),
                     body);
}

TEST(Desk, ARequestOutlivesItsConnection) {
  Bureau bureau;
  Desk::TaskPtr task;
  {
    RawClient client(bureau.server->port());
    client.send(post("/a%20b?c=d", "body"));
    task = bureau.tasks.take().value();
  }
  const Request& request = task->request();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/a%20b?c=d");
  EXPECT_EQ(request.path, "/a%20b");
  EXPECT_EQ(request.query, "c=d");
  EXPECT_EQ(request.header("x-one"), "1");
  EXPECT_EQ(request.host, "here");
  EXPECT_EQ(request.peer, "127.0.0.1");
  EXPECT_EQ(request.body, "body");
  // A parser may read ahead of it.
  for (std::size_t i = 0; i < kBodyPadding; ++i) EXPECT_EQ(request.body.data()[4 + i], '\0');
  answer_text(*task, "to nobody");
}

// As `nc -N` does: what was asked is answered, and what stands behind it.
TEST(Desk, AClientThatStopsSendingIsAnswered) {
  Bureau bureau;
  RawClient client(bureau.server->port());
  client.send(post("/", "1") + post("/", "2"));
  client.close_sending();
  for (const char* text : {"first", "second"}) {
    const auto task = bureau.tasks.take().value();
    std::this_thread::sleep_for(5ms);  // The end is read while the request is being served.
    answer_text(*task, text);
    EXPECT_EQ(body_of(client.read_response()), text);
  }
  EXPECT_TRUE(client.at_end());
  while (bureau.server->connections() > 0) std::this_thread::yield();
}

TEST(Desk, AnswersLeaveLikeAnyOtherAndTheirTimeIsMeasured) {
  metrics::Histogram times;
  Bureau bureau;
  RawClient client(bureau.server->port());
  client.send(post("/", ""));
  const auto task = bureau.tasks.take().value();
  std::this_thread::sleep_for(5ms);  // The time that it took is the point.
  answer_text(*task, "late", 7, &times);
  EXPECT_EQ(times.read().total(), 0u);  // It has not left.
  bureau.server->release(7);
  EXPECT_EQ(body_of(client.read_response()), "late");
  EXPECT_EQ(times.read().total(), 1u);
  EXPECT_GE(times.read().sum, 5000u);
}

TEST(Desk, MoreThanItCanHoldIsSentAway) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  Mailbox<int> begun;
  Bureau bureau(
      [&](const Desk::TaskPtr& task) {
        begun.put(1);
        released.wait();
        answer_text(*task, "served");
      },
      {.threads = 1, .waiting_max = 1, .waiting_bytes_max = 100});
  RawClient first(bureau.server->port());
  RawClient second(bureau.server->port());
  RawClient third(bureau.server->port());
  third.send(post("/", std::string(101, 'x')));
  EXPECT_EQ(body_of(third.read_response()), "busy");  // Its bytes alone are too many.
  first.send(post("/", ""));
  ASSERT_TRUE(begun.take());  // The one thread is in hand,
  second.send(post("/", std::string(100, 'x')));
  third.send(post("/", ""));
  EXPECT_EQ(body_of(third.read_response()), "busy");  // the second waits for it.
  release.set_value();
  EXPECT_EQ(body_of(first.read_response()), "served");
  EXPECT_EQ(body_of(second.read_response()), "served");
}

// A server whose requests name their client and their pace: /slow/CLIENT or /quick/CLIENT. Each is
// served until the test lets it end.
struct Paced {
  Mailbox<std::string> begun;
  Mailbox<std::string> dropped;
  std::mutex mutex;
  std::map<std::string, std::promise<void>> gates;  // By path; guarded by mutex.
  Desk desk;
  std::unique_ptr<Server> server;

  explicit Paced(Desk::Limits limits) : desk(limits) {
    const auto handle = [this](Exchange& exchange) {
      const std::string path(exchange.request().path);
      const bool slow = path.starts_with("/slow/");
      const Desk::Work work{.serve = [this](const Desk::TaskPtr& task) { serve(task); },
                            .pace = slow ? Desk::Pace::slow : Desk::Pace::quick,
                            .client = path.substr(path.rfind('/') + 1)};
      if (desk.take(exchange, work)) return;
      write_text(exchange.out(), "busy");
      exchange.reply(0);
    };
    server = std::move(*Server::start({}, {.handle = handle, .round_ended = {}}));
    desk.attach(*server);
  }
  ~Paced() {
    desk.stop();
    server.reset();
  }
  std::promise<void>& gate(const std::string& path) {
    const std::lock_guard lock(mutex);
    return gates[path];
  }
  void serve(const Desk::TaskPtr& task) {
    const std::string path(task->request().path);
    begun.put(path);
    gate(path).get_future().wait();
    TaskExchange exchange(task);
    EXPECT_FALSE(exchange.on_io_thread());
    write_text(exchange.out(), exchange.is_abandoned() ? "gone" : path);
    if (exchange.is_abandoned()) dropped.put(path);
    exchange.reply(0);
  }
};

TEST(Desk, SlowRequestsLeaveThreadsForOthers) {
  Paced paced({.threads = 3, .slow_max = 2, .slow_per_client_max = 1});
  RawClient first(paced.server->port());
  RawClient again(paced.server->port());
  RawClient other(paced.server->port());
  RawClient third(paced.server->port());
  RawClient quick(paced.server->port());
  first.send(get("/slow/a"));
  EXPECT_EQ(paced.begun.take(), "/slow/a");
  again.send(get("/slow/x/a"));  // Of the same client: waits although a thread is free.
  other.send(get("/slow/b"));
  EXPECT_EQ(paced.begun.take(), "/slow/b");
  third.send(get("/slow/c"));  // No thread is left for a third slow one,
  quick.send(get("/quick/a"));
  EXPECT_EQ(paced.begun.take(), "/quick/a");  // but for a quick one.
  paced.gate("/quick/a").set_value();
  EXPECT_EQ(body_of(quick.read_response()), "/quick/a");
  paced.gate("/slow/b").set_value();
  EXPECT_EQ(body_of(other.read_response()), "/slow/b");
  EXPECT_EQ(paced.begun.take(), "/slow/c");  // Not /slow/x/a, which came before.
  paced.gate("/slow/a").set_value();
  EXPECT_EQ(paced.begun.take(), "/slow/x/a");
  paced.gate("/slow/x/a").set_value();
  paced.gate("/slow/c").set_value();
  EXPECT_EQ(body_of(first.read_response()), "/slow/a");
  EXPECT_EQ(body_of(again.read_response()), "/slow/x/a");
  EXPECT_EQ(body_of(third.read_response()), "/slow/c");
}

TEST(Desk, OneClientCannotFillIt) {
  Paced paced({.threads = 1, .waiting_max = 10, .waiting_per_client_max = 1});
  RawClient first(paced.server->port());
  RawClient second(paced.server->port());
  RawClient third(paced.server->port());
  RawClient other(paced.server->port());
  first.send(get("/slow/1/a"));
  EXPECT_EQ(paced.begun.take(), "/slow/1/a");
  second.send(get("/slow/2/a"));
  third.send(get("/slow/3/a"));
  EXPECT_EQ(body_of(third.read_response()), "busy");
  other.send(get("/slow/b"));
  for (const char* path : {"/slow/1/a", "/slow/2/a", "/slow/b"}) paced.gate(path).set_value();
  EXPECT_EQ(body_of(first.read_response()), "/slow/1/a");
  EXPECT_EQ(body_of(second.read_response()), "/slow/2/a");
  EXPECT_EQ(body_of(other.read_response()), "/slow/b");
}

// A search whose client has left must neither be begun nor hold the place of another.
TEST(Desk, WhatNobodyWaitsForIsDropped) {
  Paced paced({.threads = 1, .waiting_max = 1});
  RawClient first(paced.server->port());
  first.send(get("/quick/1"));
  EXPECT_EQ(paced.begun.take(), "/quick/1");
  {
    RawClient leaves(paced.server->port());
    leaves.send(get("/quick/2"));
    RawClient turned_away(paced.server->port());
    while (true) {  // Until the other's request has come.
      turned_away.send(get("/quick/3"));
      if (body_of(turned_away.read_response()) == "busy") break;
    }
    leaves.reset();
  }
  while (paced.server->connections() > 1) std::this_thread::yield();
  RawClient stays(paced.server->port());
  stays.send(get("/quick/4"));
  while (paced.server->connections() < 2) std::this_thread::yield();
  first.reset();
  while (paced.server->connections() > 1) std::this_thread::yield();
  paced.gate("/quick/1").set_value();
  EXPECT_EQ(paced.dropped.take(), "/quick/1");  // It was told that its client has left.
  EXPECT_EQ(paced.begun.take(), "/quick/4");    // Not /quick/2.
  paced.gate("/quick/4").set_value();
  EXPECT_EQ(body_of(stays.read_response()), "/quick/4");
}

TEST(Desk, StoppedItServesWhatWaitsAndTakesNoMore) {
  Bureau bureau;
  RawClient first(bureau.server->port());
  first.send(post("/", "1"));
  const auto task = bureau.tasks.take().value();
  bureau.desk.stop();
  RawClient second(bureau.server->port());
  second.send(post("/", "2"));
  EXPECT_EQ(body_of(second.read_response()), "busy");
  answer_text(*task, "goes nowhere");
  EXPECT_FALSE(first.has_input());
}

}  // namespace
}  // namespace redrive::http
