#include "observe/alarms/evaluate.h"

#include <gtest/gtest.h>

namespace redrive::alarms {
namespace {

constexpr std::optional<AlarmState> kKeep;
constexpr auto kOk = AlarmState::ok;
constexpr auto kAlarm = AlarmState::alarm;
constexpr auto kUnknown = AlarmState::insufficient_data;

// 0: within the threshold, X: beyond it, -: not measured; the newest is on the right.
std::vector<std::optional<double>> points(std::string_view drawn) {
  std::vector<std::optional<double>> found;
  for (const char c : drawn) {
    if (c == '0') found.push_back(0);
    if (c == 'X') found.push_back(5);
    if (c == '-') found.push_back(std::nullopt);
  }
  return found;
}

struct Row {
  std::uint32_t to_alarm;
  std::string_view points;
  std::optional<AlarmState> missing, ignore, breaching, not_breaching;
};

// CloudWatch's truth tables: three of five points, M of 3.
constexpr Row kRows[] = {
    {3, "0 - X - X", kOk, kOk, kOk, kOk},
    {3, "0 - - - -", kOk, kOk, kOk, kOk},
    {3, "- - - - -", kUnknown, kKeep, kAlarm, kOk},
    {3, "0 X X - X", kAlarm, kAlarm, kAlarm, kAlarm},
    {3, "- - X - -", kAlarm, kKeep, kAlarm, kOk},
    {2, "0 - X - X", kAlarm, kAlarm, kAlarm, kAlarm},
    {2, "0 0 X 0 X", kAlarm, kAlarm, kAlarm, kAlarm},
    {2, "0 - X - -", kOk, kOk, kAlarm, kOk},
    {2, "- - - - 0", kOk, kOk, kAlarm, kOk},
    {2, "- - - X -", kAlarm, kKeep, kAlarm, kOk},
    // A single early point raises no alarm.
    {3, "- - - - X", kKeep, kKeep, kAlarm, kOk},
    {1, "- - - - X", kAlarm, kAlarm, kAlarm, kAlarm},
};

TEST(Evaluate, FollowsTheTruthTables) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(testing::Message() << row.to_alarm << " of 3: " << row.points);
    const std::pair<MissingData, std::optional<AlarmState>> cases[] = {
        {MissingData::missing, row.missing},
        {MissingData::ignore, row.ignore},
        {MissingData::breaching, row.breaching},
        {MissingData::not_breaching, row.not_breaching},
    };
    for (const auto& [treatment, expected] : cases) {
      const Rule rule{.periods = 3, .to_alarm = row.to_alarm, .missing = treatment};
      EXPECT_EQ(range_of(rule), 5u);
      EXPECT_EQ(evaluate(rule, points(row.points)), expected) << name_of(treatment);
    }
  }
}

TEST(Evaluate, ComparesAsItIsTold) {
  const std::pair<Comparison, std::array<bool, 3>> cases[] = {
      // Below, at, above the threshold.
      {Comparison::at_least, {false, true, true}},
      {Comparison::above, {false, false, true}},
      {Comparison::below, {true, false, false}},
      {Comparison::at_most, {true, true, false}},
  };
  for (const auto& [comparison, expected] : cases) {
    const Rule rule{.threshold = 10, .comparison = comparison};
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(rule.breaches(9 + i), expected[static_cast<std::size_t>(i)]);
  }
}

TEST(Evaluate, TheLatestPointsDecide) {
  const Rule rule{.periods = 1, .to_alarm = 1, .missing = MissingData::not_breaching};
  EXPECT_EQ(evaluate(rule, points("XX0")), kOk);
  EXPECT_EQ(evaluate(rule, points("00X")), kAlarm);
  EXPECT_EQ(evaluate(rule, points("---")), kOk);
}

TEST(Explain, NamesPointsAndThreshold) {
  const Alarm alarm{.statistic = "Maximum"};
  const auto seen = points("0X");
  const auto told = explain(alarm,
                            kAlarm,
                            {.points = seen,
                             .last_wall = Timestamp(1'767'268'800'000),
                             .now_wall = Timestamp(1'767'268'860'000)});
  EXPECT_EQ(told.reason,
            "Threshold Crossed: 1 out of the last 1 datapoints [5] up to 2026-01-01T12:00:00.000Z "
            "was greater than the threshold (0).");
  EXPECT_NE(told.data.find(R"("recentDatapoints":[5])"), std::string::npos);
}

TEST(Explain, WithoutPointsItSaysWhatWasMadeOfThat) {
  const Alarm alarm{.statistic = "Maximum", .rule = {.periods = 2}};
  const auto seen = points("----");
  const auto reason = [&](AlarmState state) {
    return explain(alarm, state, {.points = seen, .last_wall = {}, .now_wall = {}}).reason;
  };
  EXPECT_EQ(reason(AlarmState::insufficient_data), "Insufficient Data: 2 datapoints were unknown.");
  EXPECT_EQ(reason(kOk),
            "Threshold Crossed: no datapoints were received for 2 periods and 2 missing "
            "datapoints were treated as [NonBreaching].");
  EXPECT_NE(reason(kAlarm).find("[Breaching]"), std::string::npos);
}

TEST(Alarm, SurvivesTheCatalogue) {
  Alarm alarm{.account = "000000000000",
              .region = "us-east-1",
              .name = "dlq \"not\" empty",
              .dimensions = {{"QueueName", "orders-dlq"}},
              .space = "AWS/SQS",
              .metric = "ApproximateNumberOfMessagesVisible",
              .statistic = "Maximum",
              .period = std::chrono::seconds(10),
              .rule = {.periods = 3,
                       .to_alarm = 2,
                       .threshold = 0.5,
                       .comparison = Comparison::at_most,
                       .missing = MissingData::not_breaching},
              .alarm_actions = {"arn:aws:sqs:us-east-1:000000000000:alerts"},
              .tags = {{"team", "a"}},
              .condition = {.state = AlarmState::alarm, .reason = "because"}};
  const auto again = decode_alarm(encode(alarm));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(encode(*again), encode(alarm));
  EXPECT_EQ(again->rule.missing, MissingData::not_breaching);
  EXPECT_EQ(again->arn(), "arn:aws:cloudwatch:us-east-1:000000000000:alarm:dlq \"not\" empty");
  EXPECT_FALSE(decode_alarm("{}"));
}

}  // namespace
}  // namespace redrive::alarms
