#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "alarms/notice.h"
#include "alarms/target.h"
#include "base/result.h"
#include "base/time.h"

namespace redrive::alarms {

// Whose alarm, and which.
struct AlarmKey {
  std::string account;
  std::string region;
  std::string name;

  friend auto operator<=>(const AlarmKey&, const AlarmKey&) = default;
};

// On disk for ever.
enum class DeliveryState : std::uint8_t {
  queued = 0,      // Recorded, not attempted yet.
  failing = 1,     // At least one attempt failed; another one follows.
  delivered = 2,   // The target accepted it.
  given_up = 3,    // It will not be attempted again.
  superseded = 4,  // A later state of the alarm replaced it before it arrived.
};
std::string_view name_of(DeliveryState state);

// The delivery of one notice to one target, as the history of the alarm keeps it.
//
// The target itself is not kept, since it may hold secrets of redrive.toml: `target` is how it may
// be shown, `target_id` a digest by which it is found again after a restart.
struct Delivery {
  DeliveryState state = DeliveryState::queued;
  std::string target;
  std::string target_id;
  std::string notice;          // Title.
  std::uint32_t attempts = 0;  // Completed ones.
  std::string status;          // What the target answered: "HTTP 204", "message 5f0c...".
  std::string error;           // Of the last attempt; empty when it succeeded.
  Timestamp at;                // Wall time of the last change of state, or of the last attempt.
  Timestamp next;              // Engine time of the next attempt, while failing.
  Timestamp state_changed;     // Wall time at which the alarm changed its state.

  bool is_open() const { return state == DeliveryState::queued || state == DeliveryState::failing; }
};

std::string target_id(std::string_view target);

// One sentence for the history of an alarm. `wall_ahead`: wall time minus engine time.
std::string summary_of(const Delivery& delivery, Duration wall_ahead);

// A delivery on its way, and all that is needed to attempt it.
struct Errand {
  std::string item;  // Name of the history item, and of the open delivery, in the catalogue.
  AlarmKey alarm;
  Target target;
  Notice notice;
  Delivery delivery;
  std::uint64_t after = 0;  // The journal sequence at which it is durable.
};

// What an attempt came to. `final` errors cannot be cured by another attempt.
struct Attempt {
  std::string status;
  std::string error;
  bool final = false;

  bool succeeded() const { return error.empty(); }
};

// The delivery after an attempt. `pauses`: the number of retries, and the pause before each.
struct AttemptTime {
  Timestamp now;
  Timestamp wall;
};
Delivery after_attempt(Delivery before, const Attempt& attempt,
                       std::span<const std::chrono::milliseconds> pauses, AttemptTime time);

// As the catalogue keeps notices that are on their way.
std::string encode(const Notice& notice);
Result<Notice> decode_notice(std::string_view json);

}  // namespace redrive::alarms
