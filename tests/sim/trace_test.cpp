#include "sim/trace.h"

#include <gtest/gtest.h>

#include "sim/replay.h"
#include "sim/shrink.h"

namespace redrive::sim {
namespace {

Trace recorded(std::uint64_t seed, std::uint64_t& hash) {
  Trace trace;
  const Verdict verdict = Driver({.seed = seed, .steps = 150, .record = &trace}).run();
  EXPECT_TRUE(verdict.passed) << verdict.invariant << ": " << verdict.detail;
  hash = verdict.trace;
  return trace;
}

TEST(Trace, SurvivesItsText) {
  const std::string text =
      "# recovery lost a segment\n"
      "seed 17\n"
      "setup: 1/3 0/2\n"
      "create queue:\n"
      "receive: 0/5\n"
      "  # 2 of 2 from s1\n";
  const auto trace = read_trace(text);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->seed, 17u);
  ASSERT_EQ(trace->steps.size(), 3u);
  EXPECT_EQ(trace->steps[0].draws, (Draws{{1, 3}, {0, 2}}));
  EXPECT_EQ(trace->steps[2].notes, std::vector<std::string>{"2 of 2 from s1"});
  EXPECT_EQ(write_trace(*trace), text);
}

TEST(Trace, WithALineThatCannotBeReadIsRefused) {
  for (const char* text : {"",
                           "seed 1\nsend: 1/2\n",
                           "seed 1\nsetup: 2/2\n",
                           "seed 1\nsetup: 1\n",
                           "seed 1\nsetup: x/2\n",
                           "seed x\nsetup: 1/2\n",
                           "seed 1\nsetup\n"}) {
    EXPECT_FALSE(read_trace(text).has_value()) << text;
  }
  EXPECT_FALSE(check_trace({.steps = {{.name = "setup"}, {.name = "no such step"}}}).has_value());
  EXPECT_TRUE(check_trace({.steps = {{.name = "setup"}, {.name = "send"}}}).has_value());
}

TEST(Trace, RepeatsTheRunThatWasRecorded) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::uint64_t hash = 0;
    const auto trace = read_trace(write_trace(recorded(seed, hash)));
    ASSERT_TRUE(trace.has_value());
    EXPECT_EQ(Driver({.replay = &*trace}).run().trace, hash);
    EXPECT_EQ(failure_of(*trace), "");
  }
}

// As a step does that makes more choices than it did when it was recorded.
TEST(Trace, WithTooFewDrawsStillGivesEqualRuns) {
  std::uint64_t hash = 0;
  Trace trace = recorded(4, hash);
  for (TracedStep& step : trace.steps) step.draws.resize(step.draws.size() / 2);
  const Verdict first = Driver({.replay = &trace}).run();
  EXPECT_TRUE(first.passed) << first.invariant << ": " << first.detail;
  EXPECT_EQ(Driver({.replay = &trace}).run().trace, first.trace);
}

TEST(Shrink, KeepsTheSetupAndWhatTheFailureNeeds) {
  Trace trace{.steps = {{.name = "setup"}}};
  for (int i = 0; i < 100; ++i) trace.steps.push_back({.name = std::to_string(i)});
  const auto has = [](const Trace& of, std::string_view name) {
    return std::ranges::count(of.steps, name, &TracedStep::name) > 0;
  };
  const Trace shrunk = shrink(trace, [&](const Trace& shorter) {
    return has(shorter, "setup") && has(shorter, "7") && has(shorter, "93");
  });
  ASSERT_EQ(shrunk.steps.size(), 3u);
  EXPECT_EQ(shrunk.steps[1].name, "7");
  EXPECT_EQ(shrunk.steps[2].name, "93");
}

}  // namespace
}  // namespace redrive::sim
