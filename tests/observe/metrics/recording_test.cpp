#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

#include "observe/metrics/action_metrics.h"
#include "observe/metrics/exposition.h"
#include "observe/metrics/function_metrics.h"
#include "observe/metrics/histogram.h"

namespace redrive::metrics {
namespace {

TEST(Histogram, ABucketHoldsValuesUpToItsBound) {
  Histogram histogram;
  for (const std::uint64_t value : {0, 1, 2, 3, 4, 5, 1000}) histogram.record(value);
  histogram.record(UINT64_MAX / 2);
  const Distribution read = histogram.read();
  EXPECT_EQ(read.counts[0], 2u);   // 0 and 1.
  EXPECT_EQ(read.counts[1], 1u);   // 2
  EXPECT_EQ(read.counts[2], 2u);   // 3 and 4.
  EXPECT_EQ(read.counts[3], 1u);   // 5
  EXPECT_EQ(read.counts[10], 1u);  // 1000 up to 1024.
  EXPECT_EQ(read.counts[25], 1u);
  EXPECT_EQ(read.total(), 8u);
}

TEST(Histogram, QuantilesLieInTheRightBucket) {
  Histogram histogram;
  for (int i = 0; i < 90; ++i) histogram.record(10);
  for (int i = 0; i < 10; ++i) histogram.record(1000);
  EXPECT_GT(histogram.read().quantile(0.5), 8);
  EXPECT_LE(histogram.read().quantile(0.5), 16);
  EXPECT_GT(histogram.read().quantile(0.99), 512);
  EXPECT_LE(histogram.read().quantile(0.99), 1024);
}

TEST(Recording, NothingIsLostBetweenThreads) {
  ActionMetrics actions("sqs", {"A", "B"});
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 10'000; ++j) {
        actions.latency(1).record(7);
        if (j % 10 == 0) actions.count_error(1, ErrorCode::access_denied);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(actions.read_latency(1).total(), 120'000u);
  EXPECT_EQ(actions.read_latency(1).sum, 840'000u);
  EXPECT_EQ(actions.read_latency(0).total(), 0u);
  EXPECT_EQ(actions.errors(1), 12'000u);
  EXPECT_EQ(actions.errors(1, ErrorCode::access_denied), 12'000u);
}

TEST(Recording, NamesThatStrangersChooseAreBounded) {
  NamedCounters errors;
  for (int i = 0; i < 1000; ++i) errors.add("Error" + std::to_string(i % 50));
  const auto read = errors.read();
  EXPECT_EQ(read.size(), NamedCounters::kNamesMax + 1);
  std::uint64_t sum = 0;
  for (const auto& [name, count] : read) sum += count;
  EXPECT_EQ(sum, 1000u);

  NamedMetrics<FunctionMetrics> functions(2);
  functions.of("a")->invocations.add();
  functions.of("b")->invocations.add();
  functions.of("c")->invocations.add();
  functions.of("d")->invocations.add();
  ASSERT_EQ(functions.all().size(), 3u);
  EXPECT_EQ(functions.of("other")->invocations.value(), 2u);
  EXPECT_EQ(functions.of("a")->invocations.value(), 1u);
}

TEST(Exposition, WritesWhatPrometheusReads) {
  Exposition out;
  out.family("redrive_sent_total", Family::counter, "Sent.");
  out.sample({{"queue", "a\"b\\c\nd"}}, std::uint64_t{3});
  out.family("redrive_wait_seconds", Family::histogram, "Waits.");
  Histogram histogram;
  histogram.record(3);
  out.sample({}, histogram.read(), 1e-6, 24);
  EXPECT_EQ(out.text(),
            "# HELP redrive_sent_total Sent.\n"
            "# TYPE redrive_sent_total counter\n"
            "redrive_sent_total{queue=\"a\\\"b\\\\c\\nd\"} 3\n"
            "# HELP redrive_wait_seconds Waits.\n"
            "# TYPE redrive_wait_seconds histogram\n"
            "redrive_wait_seconds_bucket{le=\"16.777216\"} 1\n"
            "redrive_wait_seconds_bucket{le=\"+Inf\"} 1\n"
            "redrive_wait_seconds_sum 3e-06\n"
            "redrive_wait_seconds_count 1\n");
}

}  // namespace
}  // namespace redrive::metrics
