#include "observe/metrics/history.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "observe/metrics/history_files.h"

namespace redrive::metrics {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Timestamp kNoon{1'767'268'800'000};  // 2026-01-01T12:00:00Z

const Subject kOrders{Scope::queue, "arn:aws:sqs:us-east-1:000000000000:orders"};

std::vector<Point> values(std::int64_t visible, std::int64_t sent) {
  std::vector<Point> all(kQueueMetrics, 0);
  all[index(QueueMetric::visible)] = visible;
  all[index(QueueMetric::sent)] = sent;
  all[index(QueueMetric::sent_bytes_min)] = std::nullopt;
  all[index(QueueMetric::sent_bytes_max)] = std::nullopt;
  for (std::size_t i = index(QueueMetric::noisy_groups); i < all.size(); ++i) all[i].reset();
  if (sent > 0) all[index(QueueMetric::sent_bytes_max)] = 100 * sent;
  return all;
}

std::vector<std::optional<Bucket>> read(const History& history, QueueMetric metric, Timestamp from,
                                        Timestamp to, seconds step) {
  return history.read(kOrders, index(metric), from, to, step);
}

TEST(History, AMinuteHasTheHighestOfAGaugeAndTheSumOfACounter) {
  History history;
  for (int second = 0; second < 120; ++second) {
    history.record(kOrders,
                   kNoon + seconds(second),
                   values(second == 30 ? 9 : 1, second < 60 ? 2 : 0),
                   History::Between::unknown);
  }
  const auto visible = read(history, QueueMetric::visible, kNoon, kNoon + minutes(2), minutes(1));
  ASSERT_EQ(visible.size(), 2u);
  EXPECT_EQ(visible[0]->max, 9);
  EXPECT_EQ(visible[1]->max, 1);  // The current minute so far.
  const auto sent = read(history, QueueMetric::sent, kNoon, kNoon + minutes(2), minutes(2));
  EXPECT_EQ(sent[0]->sum, 120);
  EXPECT_EQ(sent[0]->samples, 2);
  const auto sizes =
      read(history, QueueMetric::sent_bytes_max, kNoon, kNoon + minutes(2), minutes(1));
  EXPECT_EQ(sizes[0]->max, 200);
  EXPECT_FALSE(sizes[1]);
}

TEST(History, SecondsAnswerShortSteps) {
  History history;
  for (int second = 0; second < 30; ++second) {
    history.record(kOrders, kNoon + seconds(second), values(second, 1), History::Between::unknown);
  }
  const auto sent = read(history, QueueMetric::sent, kNoon, kNoon + seconds(30), seconds(10));
  ASSERT_EQ(sent.size(), 3u);
  for (const auto& bucket : sent) EXPECT_EQ(bucket->sum, 10);
  EXPECT_EQ(read(history, QueueMetric::visible, kNoon, kNoon + seconds(30), seconds(10))[2]->min,
            20);
}

TEST(History, WhatNobodyMeasuredIsMissingAndWhatNothingHappenedInIsNot) {
  for (const auto between : {History::Between::unknown, History::Between::nothing}) {
    History history;
    history.record(kOrders, kNoon, values(5, 3), History::Between::unknown);
    history.record(kOrders, kNoon + minutes(10), values(1, 7), between);
    const auto visible =
        read(history, QueueMetric::visible, kNoon, kNoon + minutes(11), minutes(1));
    const auto sent = read(history, QueueMetric::sent, kNoon, kNoon + minutes(11), minutes(1));
    ASSERT_EQ(visible.size(), 11u);
    EXPECT_EQ(visible[0]->max, 5);
    EXPECT_EQ(visible[10]->max, 1);
    const bool filled = between == History::Between::nothing;
    EXPECT_EQ(visible[5].has_value(), filled);
    if (filled) {
      EXPECT_EQ(visible[5]->max, 5);  // Assumed unchanged.
      EXPECT_EQ(sent[5]->sum, 0);
    }
    EXPECT_EQ(sent[10]->sum, 7);
  }
}

TEST(History, RemembersSoManySubjectsAndLetsSilentOnesGo) {
  History history(2);
  const auto record = [&](std::string name, Timestamp at) {
    history.record({Scope::queue, std::move(name)}, at, values(1, 1), History::Between::unknown);
  };
  record("a", kNoon);
  record("b", kNoon + minutes(30));
  record("c", kNoon + minutes(31));
  EXPECT_EQ(history.subjects(Scope::queue, Timestamp()).size(), 2u);
  record("c", kNoon + minutes(61));
  const auto left = history.subjects(Scope::queue, Timestamp());
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].name, "b");
  EXPECT_EQ(left[1].name, "c");
}

TEST(History, AnIdleQueueCostsSixKibibytesHoweverLong) {
  History history;
  for (int minute = 0; minute < 20'160; ++minute) {
    history.record(kOrders, kNoon + minutes(minute), values(0, 0), History::Between::nothing);
  }
  EXPECT_LT(history.memory_bytes(), 6'144u);
}

TEST(History, KnowsWhatWasEverMeasured) {
  History history;
  EXPECT_FALSE(history.has(kOrders, index(QueueMetric::visible)));
  history.record(kOrders, kNoon, values(0, 0), History::Between::nothing);
  history.record(kOrders, kNoon + minutes(2), values(0, 0), History::Between::nothing);
  EXPECT_TRUE(history.has(kOrders, index(QueueMetric::visible)));
  EXPECT_FALSE(history.has(kOrders, index(QueueMetric::noisy_groups)));
  History read;
  ASSERT_TRUE(read.decode(history.encode(Resolution::minute, 0, INT64_MAX / 60'000)));
  EXPECT_TRUE(read.has(kOrders, index(QueueMetric::visible)));
  EXPECT_FALSE(read.has(kOrders, index(QueueMetric::noisy_groups)));
}

class HistoryFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        std::filesystem::path(testing::TempDir()) /
        ("history-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(path_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  std::filesystem::path path_;
};

TEST_F(HistoryFilesTest, ARestartFindsWhatWasWritten) {
  History before;
  auto files = HistoryFiles::open(path_);
  ASSERT_TRUE(files);
  for (int second = 0; second < 300; ++second) {
    const Timestamp at = kNoon + seconds(second);
    before.record(kOrders, at, values(second, second % 2), History::Between::unknown);
    ASSERT_TRUE(files->save(before, at));
  }
  const Timestamp end = kNoon + minutes(5);
  History after;
  auto again = HistoryFiles::open(path_);
  EXPECT_EQ(again->load(after, end), 0u);
  for (const auto metric : {QueueMetric::visible, QueueMetric::sent, QueueMetric::deleted}) {
    const auto was = read(before, metric, kNoon, kNoon + minutes(4), seconds(1));
    const auto is = read(after, metric, kNoon, kNoon + minutes(4), seconds(1));
    for (std::size_t i = 0; i < was.size(); ++i) {
      ASSERT_EQ(is[i].has_value(), was[i].has_value()) << i;
      ASSERT_EQ(is[i].value_or(Bucket()).max, was[i].value_or(Bucket()).max) << i;
    }
  }
  const auto minutes_now = read(after, QueueMetric::sent, kNoon, end, minutes(1));
  EXPECT_EQ(minutes_now[1]->sum, 30);
  EXPECT_FALSE(minutes_now[4]);  // The incomplete minute is lost.
}

TEST_F(HistoryFilesTest, ATornEndIsCutOffAndTheRestIsThere) {
  History before;
  auto files = HistoryFiles::open(path_);
  for (int minute = 0; minute < 3; ++minute) {
    const Timestamp at = kNoon + minutes(minute);
    before.record(kOrders, at, values(4, 1), History::Between::unknown);
    ASSERT_TRUE(files->save(before, at));
  }
  for (const auto& file : std::filesystem::directory_iterator(path_)) {
    std::ofstream(file.path(), std::ios::app) << "torn";
  }
  History after;
  EXPECT_EQ(files->load(after, kNoon + minutes(3)), 2u);
  EXPECT_EQ(read(after, QueueMetric::visible, kNoon, kNoon + minutes(1), minutes(1))[0]->max, 4);
  EXPECT_EQ(files->load(after, kNoon + minutes(3)), 0u);  // Truncated permanently.
}

TEST_F(HistoryFilesTest, OldFilesGo) {
  History history;
  auto files = HistoryFiles::open(path_);
  history.record(kOrders, kNoon, values(4, 1), History::Between::unknown);
  ASSERT_TRUE(files->save(history, kNoon));
  ASSERT_TRUE(files->save(history, kNoon + std::chrono::days(20)));
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(path_)) {
    EXPECT_NE(file.path().string().find("2026-01-21"), std::string::npos) << file.path();
    ++count;
  }
  EXPECT_EQ(count, 2u);
}

}  // namespace
}  // namespace redrive::metrics
