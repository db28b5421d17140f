#include "manage/lineage.h"

#include "base/calendar.h"

namespace redrive::manage {
namespace {

std::string_view end_name(queue::AttemptEnd end) {
  switch (end) {
    case queue::AttemptEnd::open:
      return "open";
    case queue::AttemptEnd::released:
      return "released";
    case queue::AttemptEnd::visibility_expired:
      return "visibility-expired";
    case queue::AttemptEnd::failed:
      return "failed";
  }
  return "open";
}

std::string_view event_name(queue::LineageEvent::Kind kind) {
  using enum queue::LineageEvent::Kind;
  switch (kind) {
    case dead_lettered:
      return "dead-lettered";
    case redriven:
      return "redriven";
    case edited:
      return "edited";
    case discarded:
      return "discarded";
    case restored:
      return "restored";
  }
  return "dead-lettered";
}

std::string_view reason_name(queue::DeadLetterReason reason) {
  return reason == queue::DeadLetterReason::reported ? "reported" : "receive-count";
}

std::optional<std::string_view> text_if_any(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace

std::vector<documents::Attempt> attempts_of(const engine::Peeked& message, const Keep& keep) {
  std::vector<documents::Attempt> lines;
  if (!message.history) return lines;
  const auto& attempts = message.history->attempts;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const queue::Attempt& attempt = attempts[i];
    documents::Attempt line{.received_at = keep(format_utc(attempt.received_wall)),
                            .by = text_if_any(keep(message.consumers[i])),
                            .end = end_name(attempt.end)};
    if (attempt.end != queue::AttemptEnd::open) line.duration_ms = attempt.duration_ms;
    line.error_type = keep(message.errors[i].type);
    line.error_message = keep(message.errors[i].message);
    line.stack_trace = keep(message.errors[i].stack);
    line.log = keep(message.errors[i].log);
    lines.push_back(line);
  }
  return lines;
}

std::vector<documents::Event> events_of(const engine::Peeked& message, const Keep& keep) {
  std::vector<documents::Event> lines;
  if (!message.history) return lines;
  const auto& events = message.history->events;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const bool dead = events[i].kind == queue::LineageEvent::Kind::dead_lettered;
    lines.push_back({.at = keep(format_utc(events[i].wall)),
                     .what = event_name(events[i].kind),
                     .from = keep(message.events[i].from),
                     .why = dead ? reason_name(events[i].why) : std::string_view(),
                     .actor = keep(message.events[i].actor),
                     .reason = keep(message.events[i].reason),
                     .job = keep(message.events[i].job)});
  }
  return lines;
}

}  // namespace redrive::manage
