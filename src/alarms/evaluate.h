#pragma once

#include <optional>
#include <span>
#include <string>

#include "alarms/alarm.h"

namespace redrive::alarms {

// How many points are looked at to find enough that were measured.
std::size_t range_of(const Rule& rule);

// What the points say, oldest first, one for each period of the range; nothing where nothing was
// measured. Nothing as an answer means: it stays as it is.
//
// With N points that were measured, the latest N of them decide and missing data is of no account.
// With fewer, those there are decide and the rest is made up as the rule says. An alarm is not
// raised on a single early point: while everything known breaches but too little is known, it is
// raised only when the oldest of it is M periods old.
//
// Pure: equal arguments give an equal answer.
std::optional<AlarmState> evaluate(const Rule& rule, std::span<const std::optional<double>> points);

// Why, in the words of CloudWatch, and as its JSON.
struct Explanation {
  std::string reason;
  std::string data;
};
struct Observation {
  std::span<const std::optional<double>> points;  // As evaluated.
  Timestamp last_wall;                            // When the period of the last one began.
  Timestamp now_wall;
};
Explanation explain(const Alarm& alarm, AlarmState state, const Observation& seen);

}  // namespace redrive::alarms
