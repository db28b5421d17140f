#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "alarms/alarm.h"

namespace redrive::alarms {

// Some dead letters that failed for one reason.
struct FailureLine {
  std::string id;
  std::string title;
  std::string status;  // new, known, regressed, ignored, resolved.
  std::uint64_t count = 0;
  bool fresh = false;  // Not told of before.
};

// Why there are dead letters, and what can be done.
struct DeadLetterReason {
  std::string queue;
  std::uint64_t messages = 0;
  std::vector<std::string> findings;  // What is wrong, a sentence each.
  std::vector<FailureLine> groups;    // The largest first.
  std::vector<std::string> apart;     // What sets them apart from what was processed.
  std::string sample;                 // A body, secrets masked.
  std::vector<std::string> commands;
};

// What is told when an alarm changes its state.
struct Notice {
  std::string id;     // The same notice has the same id, so that receivers can tell.
  std::string key;    // A later notice of the same key makes this one stale.
  std::string title;  // One line.
  std::string text;   // For people.
  std::string json;   // As CloudWatch tells topics, and more.
  std::string state;
  std::string link = {};  // To the console; empty: its address is not configured.
};

// `console_url`: where people reach the console, for a link; may be empty.
Notice make_notice(const Alarm& alarm, AlarmState before, std::string_view console_url = {});
Notice make_notice(const Alarm& alarm, AlarmState before, const DeadLetterReason& reason,
                   std::string_view console_url = {});

// As Slack and those that imitate it read it.
std::string slack_json(const Notice& notice);

}  // namespace redrive::alarms
