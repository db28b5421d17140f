#include "manage/lineage.h"

#include <algorithm>
#include <array>

#include "base/calendar.h"
#include "core/queue/consumer_name.h"

namespace redrive::manage {
namespace {

// In the order of their values.
constexpr std::array<std::string_view, 5> kEnds = {
    "open", "released", "visibility-expired", "failed", "processed"};
constexpr std::array<std::string_view, 11> kEvents = {"dead-lettered",
                                                      "redriven",
                                                      "edited",
                                                      "discarded",
                                                      "restored",
                                                      "archived",
                                                      "unarchived",
                                                      "replaced",
                                                      "damaged",
                                                      "processed",
                                                      "tried"};

std::string_view end_name(queue::AttemptEnd end) {
  return kEnds[static_cast<std::size_t>(end)];
}

std::string_view event_name(queue::LineageEvent::Kind kind) {
  return kEvents[static_cast<std::size_t>(kind)];
}

template <class Value, std::size_t count>
Result<Value> value_called(const std::array<std::string_view, count>& names,
                           std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<Value>(found - names.begin());
  return fail(ErrorCode::invalid_parameter_value, "The lineage contains an unknown word.");
}

Result<Timestamp> time_in(std::string_view text) {
  if (const auto time = parse_utc(text)) return *time;
  return fail(ErrorCode::invalid_parameter_value, "The lineage contains an invalid time.");
}

std::string_view reason_name(queue::DeadLetterReason reason) {
  return reason == queue::DeadLetterReason::reported ? "reported" : "receive-count";
}

std::optional<std::string_view> text_if_any(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace

std::vector<documents::Attempt> attempts_of(const dead_letters::Peeked& message, const Keep& keep) {
  std::vector<documents::Attempt> lines;
  if (!message.history) return lines;
  const auto& attempts = message.history->attempts;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const queue::Attempt& attempt = attempts[i];
    const auto who = queue::parse_consumer_name(message.consumers[i]);
    documents::Attempt line{.received_at = keep(format_utc(attempt.received_wall)),
                            .by = text_if_any(keep(who.plain())),
                            .end = end_name(attempt.end)};
    line.code = keep(who.code_version());
    line.version = keep(who.version);
    if (i < message.deployed.size() && message.deployed[i] != Timestamp()) {
      line.deployed_at = keep(format_utc(message.deployed[i]));
    }
    line.interpreter = keep(who.interpreter);
    line.agent = keep(who.agent);
    if (attempt.end != queue::AttemptEnd::open) line.duration_ms = attempt.duration_ms;
    line.error_type = keep(message.errors[i].type);
    line.error_message = keep(message.errors[i].message);
    line.stack_trace = keep(message.errors[i].stack);
    line.log = keep(message.errors[i].log);
    if (attempt.is_shared()) {
      line.company = attempt.company;
      line.shared = true;
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<documents::Event> events_of(const dead_letters::Peeked& message, const Keep& keep) {
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

documents::Lineage lineage_of(const dead_letters::Peeked& message, const Uuid& lineage,
                              const Keep& keep) {
  documents::Lineage out{.lineage_id = lineage,
                         .origin = keep(message.origin),
                         .failure_group = keep(message.failure_group),
                         .attempts = attempts_of(message, keep),
                         .events = events_of(message, keep)};
  if (message.history) {
    out.redrives = message.history->redrives;
    out.attempts_total = message.history->attempts_total;
  }
  return out;
}

namespace {

std::string consumer_in(const documents::Attempt& attempt) {
  auto who = queue::parse_consumer_name(attempt.by.value_or(""));
  const bool function = who.kind == queue::ConsumerName::Kind::function;
  (function ? who.code : who.app) = attempt.code;
  who.version = attempt.version;
  who.interpreter = attempt.interpreter;
  who.agent = attempt.agent;
  return who.text();
}

Result<void> read_attempt(const documents::Attempt& attempt, dead_letters::Peeked& told) {
  const queue::Attempt read{.received_wall = TRY(time_in(attempt.received_at)),
                            .duration_ms = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
                                attempt.duration_ms.value_or(0), 0, UINT32_MAX)),
                            .end = TRY(value_called<queue::AttemptEnd>(kEnds, attempt.end)),
                            .company = static_cast<std::uint16_t>(std::clamp<std::int64_t>(
                                attempt.company.value_or(0), 0, UINT16_MAX))};
  told.history->add(read);
  told.consumers.push_back(consumer_in(attempt));
  told.errors.push_back({.type = std::string(attempt.error_type),
                         .message = std::string(attempt.error_message),
                         .stack = std::string(attempt.stack_trace),
                         .fingerprint = {},
                         .log = std::string(attempt.log)});
  return {};
}

Result<void> read_event(const documents::Event& event, dead_letters::Peeked& told) {
  queue::LineageEvent read{
      .wall = TRY(time_in(event.at)),
      .kind = TRY(value_called<queue::LineageEvent::Kind>(kEvents, event.what))};
  if (event.why == reason_name(queue::DeadLetterReason::reported)) {
    read.why = queue::DeadLetterReason::reported;
  }
  told.history->add(read);
  told.events.push_back({.from = std::string(event.from),
                         .actor = std::string(event.actor),
                         .reason = std::string(event.reason),
                         .job = std::string(event.job)});
  return {};
}

}  // namespace

Result<dead_letters::Peeked> history_in(const documents::Lineage& lineage, bool keep_count) {
  dead_letters::Peeked told;
  told.history.emplace();
  told.origin = lineage.origin;
  const auto attempts_max = queue::kAttemptsFirst + queue::kAttemptsLast;
  const auto events_max = queue::kEventsFirst + queue::kEventsLast;
  if (lineage.attempts.size() > attempts_max || lineage.events.size() > events_max) {
    return fail(ErrorCode::invalid_parameter_value, "The lineage is too long.");
  }
  for (const documents::Attempt& attempt : lineage.attempts)
    RETURN_IF_ERROR(read_attempt(attempt, told));
  for (const documents::Event& event : lineage.events) RETURN_IF_ERROR(read_event(event, told));
  const auto total = std::clamp<std::int64_t>(lineage.attempts_total, 0, UINT32_MAX);
  told.history->attempts_total =
      std::max(told.history->attempts_total, static_cast<std::uint32_t>(total));
  if (keep_count) {
    told.history->redrives =
        static_cast<std::uint16_t>(std::clamp<std::int64_t>(lineage.redrives, 0, UINT16_MAX));
  }
  return told;
}

}  // namespace redrive::manage
