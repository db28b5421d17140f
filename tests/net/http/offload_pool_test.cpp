#include "net/http/offload_pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "tests/base/eventually.h"
#include "tests/net/http/raw_client.h"
#include "tests/net/http/service.h"

namespace redrive::http {
namespace {

using namespace std::chrono_literals;

void answer_text(const OffloadPool::Task& task, std::string text, SyncPoint after = 0,
                 metrics::Histogram* times = nullptr) {
  task.answer(
      [text = std::move(text), after](std::string& out) {
        write_text(out, text);
        return after;
      },
      times);
}

// A server that passes all requests to a pool; those that do not fit get "busy".
struct Bureau {
  Mailbox<OffloadPool::TaskPtr> tasks;
  OffloadPool pool;
  std::unique_ptr<Server> server;

  Bureau() : Bureau([this](const OffloadPool::TaskPtr& task) { tasks.put(task); }, {}) {}
  Bureau(std::function<void(const OffloadPool::TaskPtr&)> serve, OffloadPool::Limits limits)
      : pool(std::move(serve), limits) {
    const auto handle = [this](Exchange& exchange) {
      if (pool.take(exchange)) return;
      write_text(exchange.out(), "busy");
      exchange.reply(0);
    };
    server = std::move(*Server::start({}, {.handle = handle, .round_ended = {}}));
    pool.attach(*server);
  }
  ~Bureau() {
    pool.stop();
    server.reset();
  }
};

std::string post(std::string_view path, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: here\r\nX-One: 1\r\nContent-Length: {}\r\n\r\n{}",
                     path,
                     body.size(),
                     body);
}

TEST(OffloadPool, ARequestOutlivesItsConnection) {
  Bureau bureau;
  OffloadPool::TaskPtr task;
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

// Like `nc -N`: the request and those pipelined after it are answered.
TEST(OffloadPool, AClientThatStopsSendingIsAnswered) {
  Bureau bureau;
  RawClient client(bureau.server->port());
  client.send(post("/", "1") + post("/", "2"));
  client.close_sending();
  for (const char* text : {"first", "second"}) {
    const auto task = bureau.tasks.take().value();
    std::this_thread::sleep_for(5ms);  // EOF is read while the request is being served.
    answer_text(*task, text);
    EXPECT_EQ(body_of(client.read_response()), text);
  }
  EXPECT_TRUE(client.at_end());
  EXPECT_TRUE(eventually([&] { return bureau.server->connections() == 0; }));
}

TEST(OffloadPool, AnswersWaitForSyncsAndAreMeasured) {
  metrics::Histogram times;
  Bureau bureau;
  RawClient client(bureau.server->port());
  client.send(post("/", ""));
  const auto task = bureau.tasks.take().value();
  std::this_thread::sleep_for(5ms);  // To be measured.
  answer_text(*task, "late", 7, &times);
  EXPECT_EQ(times.read().total(), 0u);  // It has not been sent.
  bureau.server->release(7);
  EXPECT_EQ(body_of(client.read_response()), "late");
  EXPECT_EQ(times.read().total(), 1u);
  EXPECT_GE(times.read().sum, 5000u);
}

TEST(OffloadPool, RequestsBeyondItsCapacityAreRefused) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  Mailbox<int> begun;
  Bureau bureau(
      [&](const OffloadPool::TaskPtr& task) {
        begun.put(1);
        released.wait();
        answer_text(*task, "served");
      },
      {.threads = 1, .waiting_max = 1, .waiting_bytes_max = 100});
  RawClient first(bureau.server->port());
  RawClient second(bureau.server->port());
  RawClient third(bureau.server->port());
  third.send(post("/", std::string(101, 'x')));
  EXPECT_EQ(body_of(third.read_response()), "busy");  // Its bytes alone exceed the limit.
  first.send(post("/", ""));
  ASSERT_TRUE(begun.take());  // The only thread is busy,
  second.send(post("/", std::string(100, 'x')));
  third.send(post("/", ""));
  EXPECT_EQ(body_of(third.read_response()), "busy");  // the second request waits for it.
  release.set_value();
  EXPECT_EQ(body_of(first.read_response()), "served");
  EXPECT_EQ(body_of(second.read_response()), "served");
}

// A server whose requests name their client and pace: /slow/CLIENT or /quick/CLIENT. Each is served
// until the test ends it.
struct Paced {
  Mailbox<std::string> begun;
  Mailbox<std::string> dropped;
  std::mutex mutex;
  std::map<std::string, std::promise<void>> gates;  // By path; guarded by mutex.
  OffloadPool pool;
  std::unique_ptr<Server> server;

  explicit Paced(OffloadPool::Limits limits) : pool(limits) {
    const auto handle = [this](Exchange& exchange) {
      const std::string path(exchange.request().path);
      const bool slow = path.starts_with("/slow/");
      const OffloadPool::Work work{
          .serve = [this](const OffloadPool::TaskPtr& task) { serve(task); },
          .pace = slow ? OffloadPool::Pace::slow : OffloadPool::Pace::quick,
          .client = path.substr(path.rfind('/') + 1)};
      if (pool.take(exchange, work)) return;
      write_text(exchange.out(), "busy");
      exchange.reply(0);
    };
    server = std::move(*Server::start({}, {.handle = handle, .round_ended = {}}));
    pool.attach(*server);
  }
  ~Paced() {
    pool.stop();
    server.reset();
  }
  std::promise<void>& gate(const std::string& path) {
    const std::lock_guard lock(mutex);
    return gates[path];
  }
  void serve(const OffloadPool::TaskPtr& task) {
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

TEST(OffloadPool, SlowRequestsLeaveThreadsForOthers) {
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
  EXPECT_EQ(paced.begun.take(), "/quick/a");  // but there is one for a quick one.
  paced.gate("/quick/a").set_value();
  EXPECT_EQ(body_of(quick.read_response()), "/quick/a");
  paced.gate("/slow/b").set_value();
  EXPECT_EQ(body_of(other.read_response()), "/slow/b");
  EXPECT_EQ(paced.begun.take(), "/slow/c");  // Not /slow/x/a, which came earlier.
  paced.gate("/slow/a").set_value();
  EXPECT_EQ(paced.begun.take(), "/slow/x/a");
  paced.gate("/slow/x/a").set_value();
  paced.gate("/slow/c").set_value();
  EXPECT_EQ(body_of(first.read_response()), "/slow/a");
  EXPECT_EQ(body_of(again.read_response()), "/slow/x/a");
  EXPECT_EQ(body_of(third.read_response()), "/slow/c");
}

TEST(OffloadPool, OneClientCannotFillIt) {
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

// A search whose client has disconnected must neither be started nor block another.
TEST(OffloadPool, AbandonedRequestsAreDropped) {
  Paced paced({.threads = 1, .waiting_max = 1});
  RawClient first(paced.server->port());
  first.send(get("/quick/1"));
  EXPECT_EQ(paced.begun.take(), "/quick/1");
  {
    RawClient leaves(paced.server->port());
    leaves.send(get("/quick/2"));
    RawClient turned_away(paced.server->port());
    while (true) {  // Until the other request has arrived.
      turned_away.send(get("/quick/3"));
      if (body_of(turned_away.read_response()) == "busy") break;
    }
    leaves.reset();
  }
  ASSERT_TRUE(eventually([&] { return paced.server->connections() <= 1; }));
  RawClient stays(paced.server->port());
  stays.send(get("/quick/4"));
  ASSERT_TRUE(eventually([&] { return paced.server->connections() >= 2; }));
  first.reset();
  ASSERT_TRUE(eventually([&] { return paced.server->connections() <= 1; }));
  paced.gate("/quick/1").set_value();
  EXPECT_EQ(paced.dropped.take(), "/quick/1");  // Its task saw is_abandoned().
  EXPECT_EQ(paced.begun.take(), "/quick/4");    // Not /quick/2.
  paced.gate("/quick/4").set_value();
  EXPECT_EQ(body_of(stays.read_response()), "/quick/4");
}

TEST(OffloadPool, StopServesWaitingRequestsAndRefusesNewOnes) {
  Bureau bureau;
  RawClient first(bureau.server->port());
  first.send(post("/", "1"));
  const auto task = bureau.tasks.take().value();
  bureau.pool.stop();
  RawClient second(bureau.server->port());
  second.send(post("/", "2"));
  EXPECT_EQ(body_of(second.read_response()), "busy");
  answer_text(*task, "goes nowhere");
  EXPECT_FALSE(first.has_input());
}

}  // namespace
}  // namespace redrive::http
