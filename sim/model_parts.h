#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/queue/history.h"

// Shared by the model's files.
namespace redrive::sim {

inline constexpr std::string_view kSpeaksOfWhatIs = "facts speak of what is there";
inline constexpr std::string_view kNumbers = "keys and sequence numbers grow one by one";

// Ends the open delivery, if there is one, at `at`.
inline void end_attempt(queue::History& history, queue::AttemptEnd how, Timestamp at) {
  if (history.attempts.empty()) return;
  queue::Attempt& last = history.attempts.back();
  if (last.end != queue::AttemptEnd::open) return;
  last.end = how;
  const std::int64_t lasted = (at - history.received_at).count();
  last.duration_ms = static_cast<std::uint32_t>(std::clamp<std::int64_t>(lasted, 0, UINT32_MAX));
}

inline void add_event(queue::History& history, const queue::LineageEvent& event) {
  ++history.events_total;
  history.events.push_back(event);
  // The first three and the last twenty are kept.
  if (history.events.size() > 23) history.events.erase(history.events.begin() + 3);
}

}  // namespace redrive::sim
