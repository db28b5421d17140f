// Events sent to a process before it asks for them.

#include <fmt/format.h>

#include "functions/runtime/invocation_log.h"
#include "tests/functions/runtime/fixture.h"

namespace redrive::runtime {
namespace {

using Kind = Outcome::Kind;
using testing::HasSubstr;
using testing::Not;

class AheadTest : public InvokerTest {
 protected:
  static constexpr int kMany = 200;

  AheadTest() { lane_ = std::make_shared<Lane>(); }

  FunctionSpec obedient() const { return python("cases.obeys"); }

  // Many quick ones, one of them with additional members.
  std::vector<Outcome> run_many(const FunctionSpec& function, int odd, const std::string& more) {
    std::vector<std::future<Outcome>> all;
    for (int i = 0; i < kMany; ++i)
      all.push_back(begin(function, fmt::format(R"({{"n":{}{}}})", i, i == odd ? more : "")));
    std::vector<Outcome> outcomes;
    for (auto& future : all) outcomes.push_back(get(future));
    return outcomes;
  }
  static int count_ahead(const std::vector<Outcome>& outcomes) {
    return static_cast<int>(std::ranges::count_if(outcomes, [](const Outcome& outcome) {
      return outcome.kind == Kind::done && field(outcome.payload, "ahead") == "true";
    }));
  }
  static void expect_done_but(int odd, const std::vector<Outcome>& outcomes) {
    for (int i = 0; i < kMany; ++i) {
      const Outcome& outcome = outcomes[static_cast<std::size_t>(i)];
      if (i == odd) continue;
      EXPECT_EQ(outcome.kind, Kind::done) << i << ": " << outcome.error_message;
      EXPECT_EQ(field(outcome.payload, "n"), std::to_string(i));
    }
  }
};

TEST_F(AheadTest, QuickOnesNeedNotWaitForTheServer) {
  const auto outcomes = run_many(obedient(), -1, "");
  expect_done_but(-1, outcomes);
  EXPECT_GT(count_ahead(outcomes), kMany / 2);
  EXPECT_EQ(invoker().stats(obedient().arn).invocations, static_cast<unsigned>(kMany));
}

// Each is read in its own format, next to others.
TEST_F(AheadTest, FormatsMayAlternate) {
  static constexpr Payload::Format kMarshal{.name = "marshal", .json = nullptr};
  const std::string marshalled{")\2)\0{z\1nz\1m0", 12};
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < kMany; ++i)
    all.push_back(begin(obedient(), i % 3 == 0 ? Payload(marshalled, kMarshal) : R"({"n":"j"})"));
  int ahead = 0;
  for (int i = 0; i < kMany; ++i) {
    const Outcome outcome = get(all[static_cast<std::size_t>(i)]);
    EXPECT_EQ(field(outcome.payload, "n"), i % 3 == 0 ? "m" : "j") << outcome.error_message;
    ahead += field(outcome.payload, "ahead") == "true" ? 1 : 0;
  }
  EXPECT_GT(ahead, 0);
}

TEST_F(AheadTest, SlowOnesAreNotSentAhead) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 12; ++i) all.push_back(begin(obedient(), R"({"sleep":0.01})"));
  for (auto& future : all) EXPECT_EQ(field(get(future).payload, "ahead"), "false");
}

TEST_F(AheadTest, EachHasItsOwnLog) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < kMany; ++i)
    all.push_back(begin(obedient(), fmt::format(R"({{"print":"p-{0}-","write":"w-{0}-"}})", i)));
  int ahead = 0;
  for (int i = 0; i < kMany; ++i) {
    const Outcome outcome = get(all[static_cast<std::size_t>(i)]);
    ahead += field(outcome.payload, "ahead") == "true" ? 1 : 0;
    const std::string expected = fmt::format(
        "START RequestId: id-{0} Version: $LATEST\np-{1}-\nw-{1}-\nEND RequestId: id-{0}\n",
        i + 1,
        i);
    EXPECT_EQ(outcome.log.substr(0, outcome.log.find("REPORT")), expected);
  }
  EXPECT_GT(ahead, 0);
  for (const LogLine& line : invoker().logs(obedient().arn, 0, 10'000)) {
    const bool ours = line.text.starts_with("p-") || line.text.starts_with("w-");
    const int number = ours ? std::stoi(line.text.substr(2)) : 0;
    EXPECT_TRUE(!ours || line.request_id == fmt::format("id-{}", number + 1)) << line.text;
  }
}

TEST_F(AheadTest, WhoEndsTheProcessTakesNobodyAlong) {
  const auto outcomes = run_many(obedient(), 120, R"(,"print":"last words","exit":7)");
  expect_done_but(120, outcomes);
  EXPECT_GT(count_ahead(outcomes), 0);
  EXPECT_THAT(outcomes[120].error_message, HasSubstr("exit status 7"));
  EXPECT_THAT(outcomes[120].log, HasSubstr("last words"));
  EXPECT_EQ(invoker().stats(obedient().arn).errors, 1u);
}

TEST_F(AheadTest, WhoTakesTooLongTakesNobodyAlong) {
  FunctionSpec function = obedient();
  function.timeout = std::chrono::seconds(1);
  const auto outcomes = run_many(function, 120, R"(,"sleep":30)");
  expect_done_but(120, outcomes);
  EXPECT_EQ(outcomes[120].error_type, "Sandbox.Timedout");
  EXPECT_EQ(invoker().stats(function.arn).timeouts, 1u);
}

TEST_F(AheadTest, WhoFailsIsFollowedByTheNext) {
  const auto outcomes = run_many(obedient(), 120, R"(,"raise":"no")");
  expect_done_but(120, outcomes);
  EXPECT_EQ(outcomes[120].error_type, "OrderRejected");
  EXPECT_THAT(outcomes[121].log, Not(HasSubstr("OrderRejected")));
}

TEST_F(AheadTest, TimeBeginsWithTheEvent) {
  const auto outcomes = run_many(obedient(), 120, R"(,"sleep":2)");
  expect_done_but(-1, outcomes);
  for (const Outcome& outcome : outcomes)
    EXPECT_GT(std::stoi(field(outcome.payload, "remaining")), 18'500);
}

TEST_F(AheadTest, WhatComesWithAnEventIsItsOwn) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i);
    invoked_arn_ = i % 3 == 0 ? "arn:other:" + number : i % 3 == 1 ? obedient().arn : "";
    trace_ = i % 2 == 0 ? "Root=1-" + number : "";
    client_context_ = i % 5 == 0 ? R"({"custom":{"n":)" + number + "}}" : "";
    all.push_back(begin(obedient(), "{}"));
  }
  int ahead = 0;
  for (int i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i);
    const std::string result = get(all[static_cast<std::size_t>(i)]).payload;
    ahead += field(result, "ahead") == "true" ? 1 : 0;
    EXPECT_EQ(field(result, "arn"), i % 3 == 0 ? "arn:other:" + number : obedient().arn);
    EXPECT_EQ(field(result, "trace"), i % 2 == 0 ? "Root=1-" + number : "");
    EXPECT_EQ(field(result, "custom"), i % 5 == 0 ? number : "null");
  }
  EXPECT_GT(ahead, 0);
}

TEST_F(AheadTest, LargeOnesComeWhole) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < kMany; ++i) {
    const std::size_t size = i % 7 == 0 ? 300'000 : i % 3 == 0 ? 15'000 : 10;
    all.push_back(begin(obedient(), fmt::format(R"({{"filler":"{}"}})", std::string(size, 'x'))));
  }
  for (int i = 0; i < kMany; ++i) {
    const std::string size = i % 7 == 0 ? "300000" : i % 3 == 0 ? "15000" : "10";
    EXPECT_EQ(field(get(all[static_cast<std::size_t>(i)]).payload, "size"), size);
  }
}

TEST_F(AheadTest, ReservedConcurrencyIsKept) {
  FunctionSpec function = obedient();
  function.concurrency_max = 1;
  const auto outcomes = run_many(function, -1, "");
  expect_done_but(-1, outcomes);
  // A second process may replace one that is slow to ask, but no two invocations may overlap.
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  for (const Outcome& outcome : outcomes) {
    spans.emplace_back(std::stoll(field(outcome.payload, "began")),
                       std::stoll(field(outcome.payload, "ended")));
  }
  std::ranges::sort(spans);
  for (std::size_t i = 1; i < spans.size(); ++i) EXPECT_GE(spans[i].first, spans[i - 1].second);
  EXPECT_EQ(invoker().stats(function.arn).running, 0u);
}

TEST_F(AheadTest, ARetiredProcessEndsAfterWhatItWasGiven) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < kMany; ++i) {
    all.push_back(begin(obedient(), "{}"));
    if (i % 50 == 49) invoker().retire(obedient().arn);
  }
  for (auto& future : all) EXPECT_EQ(get(future).kind, Kind::done);
}

TEST_F(AheadTest, EverybodyHearsOfTheEnd) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < kMany; ++i)
    all.push_back(begin(obedient(), i == 100 ? R"({"sleep":30})" : "{}"));
  get(all[99]);
  invoker_.reset();
  for (std::size_t i = 100; i < all.size(); ++i) EXPECT_EQ(get(all[i]).kind, Kind::service_error);
}

// Each in its own process, as none asks for a second event.
TEST_F(AheadTest, WhoDoesNotListenHarmsNobody) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 3; ++i) all.push_back(begin(python("cases.deaf"), "{}"));
  for (auto& future : all) EXPECT_EQ(get(future).kind, Kind::done);
  EXPECT_EQ(invoker().stats(obedient().arn).cold_starts, 3u);
  expect_done_but(-1, run_many(obedient(), -1, ""));
}

std::string cut_at_marks(const std::vector<std::string>& pieces) {
  MarkFinder finder;
  std::string out;
  const auto tell = [&](std::string_view text) { out += text; };
  for (const std::string& piece : pieces) finder.feed(piece, tell, [&] { out += '|'; });
  finder.finish(tell);
  return out;
}

TEST(MarkFinder, FindsMarksHoweverTheyCome) {
  const std::string mark(kNextEventMark);
  EXPECT_EQ(cut_at_marks({"a" + mark + "b" + mark + mark}), "a|b||");
  const std::string text = "x" + mark + "y" + mark;
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(cut_at_marks({text.substr(0, cut), text.substr(cut)}), "x|y|") << cut;
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  EXPECT_EQ(cut_at_marks(bytes), "x|y|");
}

TEST(MarkFinder, LeavesEverythingElse) {
  const std::string begun(kNextEventMark.substr(0, 9));
  EXPECT_EQ(cut_at_marks({begun, "!"}), begun + "!");
  EXPECT_EQ(cut_at_marks({begun}), begun);
  const std::string zeros("a\0\0b\0", 5);
  EXPECT_EQ(cut_at_marks({zeros, zeros}), zeros + zeros);
}

}  // namespace
}  // namespace redrive::runtime
