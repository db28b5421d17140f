#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "observe/alarms/alarm.h"

namespace redrive::alarms {

// A group of dead letters with the same cause.
struct FailureLine {
  std::string id;
  std::string title;
  std::string status;  // new, known, regressed, ignored, resolved.
  std::uint64_t count = 0;
  bool fresh = false;  // Not reported before.
};

// Why there are dead letters, and suggested commands.
struct DeadLetterReason {
  std::string queue;
  std::uint64_t messages = 0;
  std::vector<std::string> findings;  // Problems, a sentence each.
  std::vector<FailureLine> groups;    // Largest first.
  std::vector<std::string> apart;     // What distinguishes them from processed messages.
  std::string sample;                 // A body with secrets masked.
  std::vector<std::string> commands;
};

// The notification of an alarm's state change.
struct Notice {
  std::string id;     // Stable, so that receivers can detect duplicates.
  std::string key;    // A later notice with the same key supersedes this one.
  std::string title;  // One line.
  std::string text;   // Human-readable.
  std::string json;   // CloudWatch's format for topics, with additions.
  std::string state;
  std::string link = {};  // To the console; empty if its address is not configured.
};

// `console_url`: base URL of the console, for a link; may be empty.
Notice make_notice(const Alarm& alarm, AlarmState before, std::string_view console_url = {});
Notice make_notice(const Alarm& alarm, AlarmState before, const DeadLetterReason& reason,
                   std::string_view console_url = {});

// For Slack and compatible webhooks.
std::string slack_json(const Notice& notice);

}  // namespace redrive::alarms
