#include "bench/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace redrive::bench {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

Measurement sample() {
  Measurement run{.elapsed = 2s,
                  .requests = 100,
                  .messages = 1000,
                  .server_cpu = 10ms,
                  .generator_cpu = 1s,
                  .latencies = {}};
  run.latencies.add(3us);
  run.latencies.add(5us);
  return run;
}

TEST(Report, RatesAndSharesFollowFromTheTotals) {
  Options options;
  options.format = Format::json;
  options.commit = "abc";
  const std::string line = report(options, sample(), "a machine");
  for (const char* member : {R"("requests_per_second":50.00)",
                             R"("messages_per_second":500.00)",
                             R"("server_us_per_message":10.00)",
                             R"("generator_cpu_share":0.50)",
                             R"("latency_p50_us":3.00)",
                             R"("latency_max_us":5.00)",
                             R"("commit":"abc")",
                             R"("machine":"a machine")"}) {
    EXPECT_THAT(line, HasSubstr(member));
  }
}

TEST(Report, NothingIsSaidOfAServerThatWasNotWatched) {
  Options options;
  options.format = Format::json;
  Measurement run = sample();
  run.server_cpu.reset();
  EXPECT_THAT(report(options, run, "m"), Not(HasSubstr("server_")));
}

TEST(Report, NothingDoneIsNoDivisionByZero) {
  Options options;
  options.format = Format::json;
  const Measurement run{.server_cpu = 1ms, .latencies = {}};
  EXPECT_THAT(report(options, run, "m"), HasSubstr(R"("server_us_per_message":0.00)"));
}

TEST(Report, LabelsCannotBreakTheLine) {
  Options options;
  options.label = "a\"b\\c\nd";
  options.format = Format::json;
  EXPECT_THAT(report(options, sample(), "m"), HasSubstr(R"("label":"a\"b c d")"));
  options.format = Format::csv;
  EXPECT_THAT(report(options, sample(), "m"), HasSubstr(R"("a""b c d",)"));
}

TEST(Report, CsvHasANameForEveryValue) {
  Options options;
  options.format = Format::csv;
  const std::string text = report(options, sample(), "m");
  const std::size_t end = text.find('\n');
  EXPECT_EQ(std::ranges::count(text.substr(0, end), ','),
            std::ranges::count(text.substr(end), ','));
}

}  // namespace
}  // namespace redrive::bench
