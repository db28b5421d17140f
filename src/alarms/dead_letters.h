#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alarms/notice.h"
#include "dead_letter/secrets.h"
#include "engine/engine.h"

namespace redrive::alarms {

// When a dead-letter queue is worth an alarm that nobody had to make.
struct DeadLetterRules {
  bool on = true;
  std::uint32_t arrivals_per_minute = 60;                        // More than so many is a flood.
  std::chrono::seconds expires_within = std::chrono::hours(24);  // Or a quarter of the retention.
};

// What is watched of a dead-letter queue.
struct DeadLetterReading {
  queue::QueueIdentity identity;
  std::uint64_t messages = 0;
  std::optional<Duration> expires_in;  // Of the message that goes first.
  std::chrono::seconds retention{0};
  std::uint64_t arrivals = 0;           // In the last minute.
  queue::FailureGroupKey last_group{};  // The youngest of its failure groups.
};
// Puts dead letters that came just now into their failure groups.
void group_what_came(engine::Engine& engine);

// Every dead-letter queue of the server, without arrivals.
std::vector<DeadLetterReading> read_dead_letter_queues(engine::Engine& engine);

// What is known of a dead-letter queue's alarm between two looks, and over restarts.
struct DeadLetterMemory {
  bool off = false;  // Switched off for this queue.
  bool messages = false;
  bool flood = false;
  bool expiring = false;
  std::uint64_t last_group = 0;  // Groups up to this one have been told of.
  std::int64_t since_ms = 0;     // Wall: when it last changed.

  bool alarming() const { return messages || flood || expiring; }
  friend bool operator==(const DeadLetterMemory&, const DeadLetterMemory&) = default;
};
std::string encode(const DeadLetterMemory& memory);
DeadLetterMemory decode_memory(std::string_view json);

// What a look at a queue comes to.
struct DeadLetterVerdict {
  DeadLetterMemory memory;
  bool tell = false;                  // Something began, or all of it is over.
  std::vector<std::string> findings;  // What is wrong now, a sentence each.
};
// Quiet while nothing changes: only what begins is told, and that all is well again. Pure.
DeadLetterVerdict judge(const DeadLetterRules& rules, const DeadLetterReading& reading,
                        const DeadLetterMemory& before);

// Finds out why: the largest groups, what sets them apart, one of them with its secrets masked, and
// what can be done. Groups younger than `told` are new. Reads bodies: not in turn.
DeadLetterReason find_reason(engine::Engine& engine, const DeadLetterReading& reading,
                             std::vector<std::string> findings, std::uint64_t told,
                             const dead_letter::MaskRules* mask_rules = nullptr);

}  // namespace redrive::alarms
