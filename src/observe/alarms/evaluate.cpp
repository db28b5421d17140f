#include "observe/alarms/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/calendar.h"

namespace redrive::alarms {
namespace {

struct Measured {
  double value;
  std::size_t age;  // In periods; 1 is the latest.
};

// The latest N measured points, newest first.
std::vector<Measured> measured(const Rule& rule, std::span<const std::optional<double>> points) {
  std::vector<Measured> found;
  for (std::size_t age = 1; age <= points.size() && found.size() < rule.periods; ++age) {
    if (const auto& point = points[points.size() - age]) found.push_back({*point, age});
  }
  return found;
}

std::optional<AlarmState> without_data(MissingData treatment) {
  switch (treatment) {
    case MissingData::missing:
      return AlarmState::insufficient_data;
    case MissingData::ignore:
      return std::nullopt;
    case MissingData::breaching:
      return AlarmState::alarm;
    case MissingData::not_breaching:
      return AlarmState::ok;
  }
  return std::nullopt;
}

std::string number_list(const std::vector<Measured>& found) {
  std::string out;
  for (const Measured& point : found) {
    fmt::format_to(std::back_inserter(out), "{}{}", out.empty() ? "" : ", ", point.value);
  }
  return out;
}

std::string_view words_for(Comparison comparison) {
  switch (comparison) {
    case Comparison::at_least:
      return "greater than or equal to";
    case Comparison::above:
      return "greater than";
    case Comparison::below:
      return "less than";
    case Comparison::at_most:
      return "less than or equal to";
  }
  return "";
}

}  // namespace

std::size_t range_of(const Rule& rule) {
  return rule.periods + 2;
}

std::optional<AlarmState> evaluate(const Rule& rule,
                                   std::span<const std::optional<double>> points) {
  const std::vector<Measured> found = measured(rule, points);
  if (found.empty()) return without_data(rule.missing);
  const auto breaches = [&](const Measured& point) { return rule.breaches(point.value); };
  const auto breaching = static_cast<std::size_t>(std::ranges::count_if(found, breaches));
  if (breaching >= rule.to_alarm) return AlarmState::alarm;
  if (found.size() >= rule.periods) return AlarmState::ok;
  const std::size_t made_up = rule.periods - found.size();
  if (rule.missing == MissingData::breaching) {
    return breaching + made_up >= rule.to_alarm ? AlarmState::alarm : AlarmState::ok;
  }
  if (rule.missing == MissingData::not_breaching || breaching < found.size()) return AlarmState::ok;
  const bool old_enough = found.back().age >= rule.to_alarm;
  if (rule.missing == MissingData::missing && old_enough) return AlarmState::alarm;
  return std::nullopt;
}

Explanation explain(const Alarm& alarm, AlarmState state, const Observation& seen) {
  const Rule& rule = alarm.rule;
  const std::vector<Measured> found = measured(rule, seen.points);
  const auto breaching = std::ranges::count_if(
      found, [&](const Measured& point) { return rule.breaches(point.value); });
  Explanation out;
  const std::string when = format_utc(seen.last_wall);
  if (found.empty() && state != AlarmState::insufficient_data) {
    out.reason = fmt::format(
        "Threshold Crossed: no datapoints were received for {} period{} and {} missing "
        "datapoint{} treated as [{}].",
        rule.periods,
        rule.periods == 1 ? "" : "s",
        rule.periods,
        rule.periods == 1 ? " was" : "s were",
        state == AlarmState::alarm ? "Breaching" : "NonBreaching");
  } else if (found.empty()) {
    out.reason = fmt::format("Insufficient Data: {} datapoint{} unknown.",
                             rule.periods,
                             rule.periods == 1 ? " was" : "s were");
  } else {
    const auto count = state == AlarmState::alarm
                           ? breaching
                           : static_cast<std::ptrdiff_t>(found.size()) - breaching;
    out.reason = fmt::format(
        "Threshold Crossed: {} out of the last {} datapoints [{}] up to {} {} {}{} the threshold "
        "({}).",
        count,
        rule.periods,
        number_list(found),
        when,
        count == 1 ? "was" : "were",
        state == AlarmState::alarm ? "" : "not ",
        words_for(rule.comparison),
        rule.threshold);
  }
  out.data = fmt::format(
      R"({{"version":"1.0","queryDate":"{}","statistic":"{}","period":{},"recentDatapoints":[{}],"threshold":{}}})",
      format_utc(seen.now_wall),
      alarm.statistic,
      alarm.period.count(),
      number_list(found),
      rule.threshold);
  return out;
}

}  // namespace redrive::alarms
