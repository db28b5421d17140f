#include "observe/metrics/series.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace redrive::metrics {
namespace {

TEST(Series, GivesBackWhatWasSetAndGaps) {
  Series series(100);
  series.set(1000, 5);
  series.set(1001, 5);
  series.set(1004, -7);
  const std::vector<Point> expected = {std::nullopt, 5, 5, std::nullopt, std::nullopt, -7, {}};
  EXPECT_EQ(series.read(999, 1006), expected);
  EXPECT_EQ(series.last(), Point(-7));
}

TEST(Series, ThePastIsLeftAsItIs) {
  Series series(10);
  series.set(5, 1);
  series.set(4, 2);
  series.set(5, 3);
  EXPECT_EQ(series.read(4, 6), (std::vector<Point>{std::nullopt, 1}));
}

TEST(Series, AValueThatStaysCostsNothing) {
  Series series(20'160);
  for (int i = 0; i < 50'000; ++i) series.set(i, 3);
  EXPECT_LT(series.memory_bytes(), 200u);
  EXPECT_EQ(series.begin(), 50'000 - 20'160);
  EXPECT_EQ(series.read(49'998, 50'001), (std::vector<Point>{3, 3, std::nullopt}));
}

TEST(Series, ANumberThatJumpsCostsTwoOrThreeBytes) {
  Series series(20'160);
  std::mt19937 random(7);
  for (int i = 0; i < 60'000; ++i) series.set(i, static_cast<int>(random() % 1000));
  EXPECT_LT(series.memory_bytes(), 20'160u * 3);
}

TEST(Series, FillsWithAValue) {
  Series series(100);
  series.set(10, 4);
  series.fill(13, 0);
  series.set(13, 2);
  EXPECT_EQ(series.read(10, 14), (std::vector<Point>{4, 0, 0, 2}));
}

TEST(Series, TravelsAsBytes) {
  Series series(100);
  for (int i = 0; i < 150; ++i) {
    if (i % 7 != 0) series.set(i, i % 5 == 0 ? i * 1000 : 3);
  }
  const std::string bytes = series.encode(60, 140);
  Series copy(100);
  std::string_view rest = bytes;
  ASSERT_TRUE(copy.decode(rest));
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(copy.read(60, 140), series.read(60, 140));
  for (std::size_t size = 0; size < bytes.size(); ++size) {  // A truncated encoding is refused.
    rest = std::string_view(bytes).substr(0, size);
    EXPECT_FALSE(Series(100).decode(rest)) << size;
  }
}

TEST(Series, AfterALongSilenceItBeginsAnew) {
  Series series(10);
  series.set(1, 1);
  series.set(1'000'000'000, 2);
  EXPECT_EQ(series.begin(), 1'000'000'000);
  EXPECT_LT(series.memory_bytes(), 200u);
}

// Compared with a map, with runs, gaps and jumps, while the front is dropped.
TEST(Series, EqualsAMapWhateverComes) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    constexpr std::size_t kMax = 64;
    Series series(kMax);
    std::map<std::int64_t, std::int64_t> model;
    std::int64_t index = static_cast<std::int64_t>(random() % 1000);
    std::int64_t value = 0;
    for (int step = 0; step < 500; ++step) {
      index += random() % 8 == 0 ? static_cast<std::int64_t>(random() % 20) : 1;
      if (random() % 3 == 0) value = static_cast<std::int64_t>(random()) >> (random() % 64);
      value = std::clamp(value, -(std::int64_t{1} << 57), std::int64_t{1} << 57);
      if (series.empty() || index >= series.end()) model[index] = value;
      series.set(index, value);
      ++index;
    }
    const std::int64_t end = series.end();
    ASSERT_GE(series.begin(), end - static_cast<std::int64_t>(kMax));
    const auto points = series.read(end - 70, end + 3);
    for (std::int64_t i = end - 70; i < end + 3; ++i) {
      const auto found = model.find(i);
      const bool kept = i >= series.begin() && found != model.end();
      ASSERT_EQ(points[static_cast<std::size_t>(i - end + 70)],
                kept ? Point(found->second) : std::nullopt)
          << "seed " << seed << " index " << i;
    }
  }
}

}  // namespace
}  // namespace redrive::metrics
