#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "dead_letters/dead_letters.h"
#include "dead_letters/triage/secrets.h"
#include "observe/alarms/notice.h"

namespace redrive::alarms {

// When a dead-letter queue raises its built-in alarm.
struct DeadLetterRules {
  bool on = true;
  std::uint32_t arrivals_per_minute = 60;                        // A higher rate is a flood.
  std::chrono::seconds expires_within = std::chrono::hours(24);  // Or a quarter of the retention.
};

// The values watched for a dead-letter queue.
struct DeadLetterReading {
  queue::QueueIdentity identity;
  std::uint64_t messages = 0;
  std::optional<Duration> expires_in;  // Of the message that expires first.
  std::chrono::seconds retention{0};
  std::uint64_t arrivals = 0;           // In the last minute.
  queue::FailureGroupKey last_group{};  // The newest of its failure groups.
};
// Assigns recent dead letters to their failure groups.
void group_what_came(dead_letters::DeadLetters& dead_letters);

// All dead-letter queues of the server, without arrivals.
std::vector<DeadLetterReading> read_dead_letter_queues(engine::Engine& engine);

// State of a dead-letter queue's alarm between two checks, and across restarts.
struct DeadLetterMemory {
  bool off = false;  // Disabled for this queue.
  bool messages = false;
  bool flood = false;
  bool expiring = false;
  std::uint64_t last_group = 0;  // Groups up to this one have been reported.
  std::int64_t since_ms = 0;     // Wall time of the last change.

  bool alarming() const { return messages || flood || expiring; }
  friend bool operator==(const DeadLetterMemory&, const DeadLetterMemory&) = default;
};
std::string encode(const DeadLetterMemory& memory);
DeadLetterMemory decode_memory(std::string_view json);

// Result of checking a queue.
struct DeadLetterVerdict {
  DeadLetterMemory memory;
  bool tell = false;                  // Notify: something began, or everything is over.
  std::vector<std::string> findings;  // Current problems, a sentence each.
};
// Reports only new problems, and when all are over. Pure.
DeadLetterVerdict judge(const DeadLetterRules& rules, const DeadLetterReading& reading,
                        const DeadLetterMemory& before);

// Explains the dead letters: the largest groups, what distinguishes them, one sample with its
// secrets masked, and suggested commands. Groups after `told` are new. Reads bodies: not in a turn.
DeadLetterReason find_reason(engine::Engine& engine, dead_letters::DeadLetters& dead_letters,
                             const DeadLetterReading& reading, std::vector<std::string> findings,
                             std::uint64_t told, const triage::MaskRules* mask_rules = nullptr);

}  // namespace redrive::alarms
