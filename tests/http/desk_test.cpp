#include "http/desk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
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
