#include "dead_letters/triage/row_sample.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "dead_letters/triage/row_features.h"
#include "dead_letters/triage/text_pattern.h"

namespace redrive::triage {
namespace {

Row row_of(std::uint64_t value, std::size_t entries = 1) {
  Row row;
  for (std::size_t i = 0; i < entries; ++i) {
    row.entries.push_back(
        {.value = value, .path = static_cast<PathHash>(i + 1), .type = JsonType::array});
  }
  return row;
}

RowSample sample_of(std::uint64_t messages, std::uint64_t from = 0, std::size_t entries = 1) {
  RowSample sample;
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (sample.wants_next()) sample.put(row_of(from + i, entries));
  }
  return sample;
}

double mean_of(const RowSample& sample) {
  double sum = 0;
  for (const Row& row : sample.rows()) sum += static_cast<double>(row.entries.front().value);
  return sum / static_cast<double>(sample.rows().size());
}

TEST(RowSample, KeepsAllWhileThereIsRoom) {
  const RowSample sample = sample_of(RowSample::kRowsMax);
  EXPECT_EQ(sample.rows().size(), RowSample::kRowsMax);
  EXPECT_EQ(sample.seen(), RowSample::kRowsMax);
}

TEST(RowSample, IsUniformAndLaterFollowsTheLatest) {
  const RowSample early = sample_of(10'000);
  EXPECT_EQ(early.rows().size(), RowSample::kRowsMax);
  EXPECT_NEAR(mean_of(early), 5'000, 800);
  const RowSample late = sample_of(200'000);
  EXPECT_GT(mean_of(late), 170'000);
}

TEST(RowSample, HasFewerRowsWhenTheyAreLong) {
  const RowSample sample = sample_of(3'000, 0, Row::kEntriesMax);
  EXPECT_EQ(sample.rows().size(), RowSample::kEntriesMax / Row::kEntriesMax);
  EXPECT_LE(sample.heap_bytes(), 160u * 1024);
  EXPECT_NEAR(mean_of(sample), 1'500, 400);
}

TEST(RowSample, MergesByHowMuchEachHasSeen) {
  RowSample few = sample_of(100, 1'000'000);
  const RowSample many = sample_of(10'000);
  few.merge(many);
  EXPECT_EQ(few.seen(), 10'100u);
  EXPECT_LE(few.rows().size(), RowSample::kRowsMax);
  EXPECT_GE(few.rows().size(), RowSample::kRowsMax - 4);
  std::size_t of_few = 0;
  for (const Row& row : few.rows()) of_few += row.entries.front().value >= 1'000'000;
  EXPECT_LE(of_few, 6u);
  RowSample none;
  none.merge(many);
  EXPECT_EQ(none, many);
  RowSample same = many;
  same.merge(RowSample());
  EXPECT_EQ(same, many);
}

TEST(RowSample, RefusesToRestoreWhatCannotBe) {
  RowSample sample;
  EXPECT_FALSE(sample.restore(1, 4, {row_of(1), row_of(2)}));
  EXPECT_FALSE(sample.restore(9, 1, {row_of(1), row_of(2)}));
  EXPECT_FALSE(sample.restore(9, RowSample::kRowsMax + 1, {}));
  EXPECT_FALSE(sample.restore(9, 0, {}));
  EXPECT_TRUE(sample.restore(9, 2, {row_of(1), row_of(2)}));
}

TEST(RoundestBetween, HasTheFewestDigits) {
  const struct {
    double low, high, expected;
  } cases[] = {
      {950, 1200, 1000},
      {990, 1000, 1000},
      {999, 1000, 1000},
      {-5, 3, 0},
      {0, 1, 1},
      {-20, -3, -10},
      {0.12, 0.4, 0.2},
      {0.1234, 0.1251, 0.124},
      {1e15, 1e15 + 2, 1e15 + 1},
      {37, 61, 40},
      {1e300, 1e301, 1e301},
      {0, 5e-324, 5e-324},
  };
  for (const auto& one : cases) {
    const double round = roundest_between(one.low, one.high);
    EXPECT_DOUBLE_EQ(round, one.expected) << one.low << " " << one.high;
    EXPECT_GT(round, one.low);
    EXPECT_LE(round, one.high);
  }
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_LE(roundest_between(-kMost, kMost), kMost);
}

TEST(RankCorrelation, IsThatOfRanks) {
  const std::vector<double> up = {1, 2, 3, 4, 50};
  const std::vector<double> down = {9, 8, 7, 6, -100};
  const std::vector<double> flat = {1, 1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(rank_correlation(up, up), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, down), -1);
  EXPECT_DOUBLE_EQ(rank_correlation(up, flat), 0);
  EXPECT_NEAR(rank_correlation(up, std::vector<double>{2, 1, 4, 3, 5}), 0.8, 1e-9);
}

TEST(TextPattern, AreFound) {
  const struct {
    std::string_view text;
    std::vector<TextPattern> patterns;
  } cases[] = {
      {"", {TextPattern::empty}},
      {"word", {}},
      {" word", {TextPattern::padded}},
      {"word\n", {TextPattern::padded}},
      {"2026-01-31", {TextPattern::date}},
      {"2026-01-31T10:00:00Z", {TextPattern::date}},
      {"2026/1/3 10:00", {TextPattern::date}},
      {"31.12.2026", {TextPattern::date}},
      {"12/31/26", {TextPattern::date}},
      {"10.0.0", {}},
      {"10.0.0.7", {}},
      {"2026-01", {}},
      {"2026-01-31x", {}},
      {"1-2-3", {}},
      {"17", {TextPattern::number}},
      {"-1.5e3", {TextPattern::number}},
      {"17a", {}},
      {"inf", {}},
      {"123e4567-e89b-12d3-a456-426614174000", {TextPattern::uuid}},
      {"123e4567-e89b-12d3-a456-42661417400", {}},
      {"ann@example.org", {TextPattern::email}},
      {"ann@localhost", {}},
      {"@example.org", {}},
      {"a@b@c.de", {}},
      {"https://example.org/x", {TextPattern::url}},
      {"Zürich", {TextPattern::non_ascii}},
  };
  for (const auto& one : cases) {
    unsigned expected = 0;
    for (const TextPattern pattern : one.patterns) expected |= 1u << static_cast<unsigned>(pattern);
    EXPECT_EQ(patterns_of(one.text), expected) << one.text;
  }
  EXPECT_EQ(length_of("Zürich"), 6u);
  EXPECT_EQ(length_of(std::string(100'000, 'x')), 65'535u);
}

}  // namespace
}  // namespace redrive::triage
