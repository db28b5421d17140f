#include "cli/commands/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/term/table.h"
#include "tests/cli/fake_world.h"

namespace redrive::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

documents::Overview look(std::int64_t sent, std::int64_t dead) {
  documents::Overview out{.now = "2026-01-01T00:00:00.000Z",
                          .queue_count = 3,
                          .visible = 45,
                          .in_flight = 2,
                          .delayed = 0,
                          .dead_letters = 5,
                          .queues = {},
                          .handlers = {},
                          .jobs = {}};
  out.queues = {{.name = "small", .visible = 1},
                {.name = "orders",
                 .visible = 40,
                 .in_flight = 2,
                 .oldest_age_seconds = 3'725,
                 .sent = sent,
                 .deleted = sent / 2,
                 .dead_lettered_away = dead,
                 .dead_letter_queue = "orders-dlq"},
                {.name = "orders-dlq", .visible = 5, .dead_lettered = dead, .sources = {"orders"}}};
  out.handlers = {{.function = "charge",
                   .mapping = "u-1",
                   .queue_arn = "arn:aws:sqs:r:0:orders",
                   .polling = true,
                   .running = 2,
                   .limit = 5,
                   .runs = sent,
                   .messages = sent,
                   .failed = dead}};
  out.jobs = {{.id = "0123456789abcdef",
               .queue = "orders-dlq",
               .status = "running",
               .to_move = 200,
               .moved = 50}};
  return out;
}

std::string drawn(const TopView& view, TopFrame frame = {}) {
  std::istringstream in;
  std::ostringstream out;
  const Terminal terminal{.in = in, .out = out, .err = out};
  return draw_top(terminal, view, frame);
}

TEST(TopView, TheLongestQueueComesFirstAndRatesAreBetweenTwoLooks) {
  const auto before = look(100, 4);
  const auto now = look(150, 5);
  const TopView view = compare_overviews(now, &before, 2.0);
  ASSERT_EQ(view.queues.size(), 3u);
  EXPECT_EQ(view.queues[0].now.name, "orders");
  EXPECT_EQ(view.queues[0].in_per_second, 25.0);
  EXPECT_EQ(view.queues[0].out_per_second, 12.5 + 0.5);
  EXPECT_EQ(view.queues[0].dead_per_second, 0.5);
  EXPECT_EQ(view.queues[1].dead_per_second, 0.5);
  EXPECT_EQ(view.handlers[0].runs_per_second, 25.0);
}

TEST(TopView, CountersThatBeginAnewAndFirstLooksAreNoLeaps) {
  const auto before = look(1'000, 4);
  const auto now = look(10, 0);
  EXPECT_EQ(compare_overviews(now, &before, 1.0).queues[0].in_per_second, 10.0);
  EXPECT_FALSE(compare_overviews(now, nullptr, 0).queues[0].in_per_second.has_value());
}

TEST(TopView, DrawsQueuesDeadLettersHandlersAndJobs) {
  const auto before = look(100, 4);
  const auto now = look(150, 5);
  const std::string text = drawn(compare_overviews(now, &before, 2.0));
  EXPECT_THAT(text, HasSubstr("3 queues, 45 visible, 2 in flight, 0 delayed, 5 dead letters\n"));
  EXPECT_THAT(text, HasSubstr("orders       40          2        0  25.0   13.0   1h02m     0.5"));
  EXPECT_THAT(text, HasSubstr("orders-dlq           5   0.5"));
  EXPECT_THAT(text, HasSubstr("charge       2/5    25.0"));
  EXPECT_THAT(text, HasSubstr("50 of 200 (25 %)"));
}

TEST(TopView, NoLineIsWiderAndNoPictureHigherThanTheScreen) {
  auto now = look(1, 0);
  const std::string wide(300, 'w');
  for (int i = 0; i < 50; ++i) now.queues.push_back({.name = wide, .visible = 1});
  const std::string text = drawn(compare_overviews(now, nullptr, 0), {.columns = 30, .rows = 24});
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(display_width(std::string_view(text).substr(at, end - at)), 30u);
    at = end + 1;
    ++lines;
  }
  EXPECT_LE(lines, 24u);
  EXPECT_THAT(text, HasSubstr("… and "));
}

TEST(TopView, NamesCannotDriveTheTerminal) {
  auto now = look(1, 0);
  now.queues[0].name = "evil\x1b[2J";
  EXPECT_THAT(drawn(compare_overviews(now, nullptr, 0)), Not(HasSubstr("\x1b")));
}

constexpr const char* kLookAsked = "GET /_redrive/v1/overview?limit=100";
constexpr const char* kLookAnswer =
    R"({"now":"2026-01-01T00:00:00.000Z","queueCount":1,"visible":7,"inFlight":0,"delayed":0,)"
    R"("deadLetters":0,"queues":[{"name":"orders","fifo":false,"visible":7,"inFlight":0,)"
    R"("delayed":0,"oldestAgeSeconds":0,"sent":%,"received":0,"deleted":0,"deadLettered":0,)"
    R"("deadLetteredAway":0,"redriven":0,"expired":0}],"handlers":[],"jobs":[]})";

struct TopCommand : testing::Test {
  FakeWorld world;

  void answer(const std::string& sent) {
    std::string body = kLookAnswer;
    body.replace(body.find('%'), 1, sent);
    world.server.handle(kLookAsked, [this, body](const std::string&) {
      world.clock.advance(Duration(1'000));
      return Result<http::ClientResponse>(
          http::ClientResponse{.status = 200, .headers = {}, .body = body});
    });
  }
};

TEST_F(TopCommand, OnceLooksTwiceASecondApart) {
  answer("10");
  answer("17");
  const Outcome outcome = world.run({"top", "--once"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("orders        7          0        0   7.0"));
  EXPECT_EQ(world.pauses, std::vector<Duration>{Duration(1'000)});
}

TEST_F(TopCommand, WithoutATerminalItWritesOnePictureAfterAnotherUntilInterrupted) {
  answer("10");
  world.interrupt.polls_left = 2;
  const Outcome outcome = world.run({"top", "--every", "2", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 2);
  EXPECT_THAT(outcome.out, HasSubstr(R"("inPerSecond":0)"));
}

TEST_F(TopCommand, AServerThatIsNotOursIsSaidToBe) {
  world.server.answer(kLookAsked, "{}", 404);
  EXPECT_NE(world.run({"top", "--once"}).exit_code, 0);
}

}  // namespace
}  // namespace redrive::cli
