#pragma once

#include <optional>
#include <span>
#include <string>

#include "observe/alarms/alarm.h"

namespace redrive::alarms {

// How many points are fetched to find enough with a measurement.
std::size_t range_of(const Rule& rule);

// Evaluates the points, oldest first, one per period of the range; nullopt for periods without a
// measurement. Returns nullopt if the state does not change.
//
// With N measured points, the latest N of them decide and missing data is ignored. With fewer, the
// existing ones decide and the rest is filled in according to the rule. An alarm is not raised by a
// single early point: while everything known breaches but too little is known, it is raised only
// when the oldest point is M periods old.
//
// Pure.
std::optional<AlarmState> evaluate(const Rule& rule, std::span<const std::optional<double>> points);

// The reason in CloudWatch's words, and as its JSON.
struct Explanation {
  std::string reason;
  std::string data;
};
struct Observation {
  std::span<const std::optional<double>> points;  // As evaluated.
  Timestamp last_wall;                            // Start of the last point's period.
  Timestamp now_wall;
};
Explanation explain(const Alarm& alarm, AlarmState state, const Observation& seen);

}  // namespace redrive::alarms
