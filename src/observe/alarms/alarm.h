#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "observe/metrics/cloud_metrics.h"

namespace redrive::alarms {

enum class AlarmState : std::uint8_t { ok, alarm, insufficient_data };
enum class MissingData : std::uint8_t { missing, ignore, breaching, not_breaching };
enum class Comparison : std::uint8_t { at_least, above, below, at_most };

std::string_view name_of(AlarmState state);
std::string_view name_of(MissingData treatment);
std::string_view name_of(Comparison comparison);
std::optional<AlarmState> parse_state(std::string_view name);
std::optional<MissingData> parse_missing(std::string_view name);
std::optional<Comparison> parse_comparison(std::string_view name);

// When an alarm's metric breaches.
struct Rule {
  std::uint32_t periods = 1;   // N: number of points evaluated,
  std::uint32_t to_alarm = 1;  // M: number of them that must breach.
  double threshold = 0;
  Comparison comparison = Comparison::above;
  MissingData missing = MissingData::missing;

  bool breaches(double value) const;
};

// An alarm's current state, and since when. Times are wall times.
struct Condition {
  AlarmState state = AlarmState::insufficient_data;
  std::string reason = "Unchecked: Initial alarm creation";
  std::string reason_data;  // JSON, or empty.
  Timestamp updated;
  Timestamp transitioned;
};

// A CloudWatch metric alarm with its current state.
struct Alarm {
  std::string account;
  std::string region;
  std::string name;
  std::string description;
  metrics::Dimensions dimensions;
  std::string space;  // Namespace.
  std::string metric;
  std::string statistic;  // Maximum, or p90 and the like.
  std::string unit;
  std::chrono::seconds period{60};
  Rule rule;
  bool to_alarm_given = false;  // DatapointsToAlarm was given, so it is returned to clients.
  bool missing_given = false;
  bool actions_enabled = true;
  std::vector<std::string> ok_actions;
  std::vector<std::string> alarm_actions;
  std::vector<std::string> insufficient_data_actions;
  std::map<std::string, std::string> tags;
  Timestamp configured;
  Condition condition;

  std::string arn() const;
  metrics::CloudLine line() const;
  const std::vector<std::string>& actions_for(AlarmState state) const;
};

// As stored in the catalogue.
std::string encode(const Alarm& alarm);
Result<Alarm> decode_alarm(std::string_view json);

// The alarm's name in the catalogue.
std::string entry_name(std::string_view account, std::string_view region, std::string_view name);

}  // namespace redrive::alarms
