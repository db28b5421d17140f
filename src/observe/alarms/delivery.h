#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "observe/alarms/notice.h"
#include "observe/alarms/target.h"

namespace redrive::alarms {

// Identifies an alarm.
struct AlarmKey {
  std::string account;
  std::string region;
  std::string name;

  friend auto operator<=>(const AlarmKey&, const AlarmKey&) = default;
};

// Persistent; do not renumber.
enum class DeliveryState : std::uint8_t {
  queued = 0,      // Recorded, not attempted yet.
  failing = 1,     // At least one attempt failed; another follows.
  delivered = 2,   // The target accepted it.
  given_up = 3,    // It will not be attempted again.
  superseded = 4,  // Replaced by a later state of the alarm before it was delivered.
};
std::string_view name_of(DeliveryState state);

// The delivery of one notice to one target, as stored in the alarm's history.
//
// The target itself is not stored, since it may contain secrets from redrive.toml: `target` is its
// masked form, `target_id` a digest by which it is found again after a restart.
struct Delivery {
  DeliveryState state = DeliveryState::queued;
  std::string target;
  std::string target_id;
  std::string notice;          // Title.
  std::uint32_t attempts = 0;  // Completed attempts.
  std::string status;          // The target's response: "HTTP 204", "message 5f0c...".
  std::string error;           // Of the last attempt; empty if it succeeded.
  Timestamp at;                // Wall time of the last state change or attempt.
  Timestamp next;              // Engine time of the next attempt, while failing.
  Timestamp state_changed;     // Wall time of the alarm's state change.

  bool is_open() const { return state == DeliveryState::queued || state == DeliveryState::failing; }
};

std::string target_id(std::string_view target);

// One sentence for the alarm's history. `wall_ahead`: wall time minus engine time.
std::string summary_of(const Delivery& delivery, Duration wall_ahead);

// A delivery in progress, with everything needed to attempt it.
struct PendingDelivery {
  std::string item;  // Name of the history item, and of the open delivery, in the catalogue.
  AlarmKey alarm;
  Target target;
  Notice notice;
  Delivery delivery;
  std::uint64_t after = 0;  // Durable once this journal sequence is synced.
};

// The result of an attempt. `final`: a retry cannot succeed.
struct Attempt {
  std::string status;
  std::string error;
  bool final = false;

  bool succeeded() const { return error.empty(); }
};

// The delivery after an attempt. `pauses`: one per retry.
struct AttemptTime {
  Timestamp now;
  Timestamp wall;
};
Delivery after_attempt(Delivery before, const Attempt& attempt,
                       std::span<const std::chrono::milliseconds> pauses, AttemptTime time);

// Notices being delivered, as stored in the catalogue.
std::string encode(const Notice& notice);
Result<Notice> decode_notice(std::string_view json);

}  // namespace redrive::alarms
