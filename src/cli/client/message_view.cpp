#include "cli/client/message_view.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/client/queue_document.h"
#include "cli/client/queue_name.h"
#include "cli/term/json_text.h"

namespace redrive::cli {
namespace {

// Summarises the system attributes that are present.
std::string fate_of(const sqs::StringMap& attributes, Timestamp now) {
  std::vector<std::string> facts;
  const auto fact = [&](std::string_view name, auto&& say) {
    const std::string_view value = attribute_of(attributes, name);
    if (!value.empty()) facts.push_back(say(value));
  };
  fact("SentTimestamp", [&](std::string_view value) {
    const Timestamp sent(parse_int<std::int64_t>(value).value_or(now.ms()));
    return fmt::format("sent {} ago", readable_age(now - sent));
  });
  fact("ApproximateReceiveCount", [](std::string_view value) {
    return fmt::format("received {} {}", value, value == "1" ? "time" : "times");
  });
  fact("MessageGroupId", [](std::string_view value) { return fmt::format("group {}", value); });
  fact("SequenceNumber", [](std::string_view value) { return fmt::format("sequence {}", value); });
  fact("DeadLetterQueueSourceArn",
       [](std::string_view value) { return fmt::format("failed in {}", queue_name_of(value)); });
  return harmless(fmt::format("{}", fmt::join(facts, ", ")));
}

std::string value_of(const sqs::MessageAttributeValue& value) {
  if (value.binary_value) return base64_encode(value.binary_value->bytes);
  return harmless(value.string_value.value_or(""));
}

std::string fate_of(const documents::Message& message) {
  std::vector<std::string> facts = {std::string(message.state)};
  facts.push_back(fmt::format("sent {}", message.sent_at));
  facts.push_back(fmt::format("expires {}", message.expires_at));
  if (message.group_id) facts.push_back(fmt::format("group {}", *message.group_id));
  if (message.dead_letter_source) {
    facts.push_back(fmt::format("failed in {}", queue_name_of(*message.dead_letter_source)));
  }
  if (message.redrives > 0) facts.push_back(fmt::format("redriven {} times", message.redrives));
  if (message.lineage_id != message.message_id) {
    facts.push_back(fmt::format("first id {}", message.lineage_id.text()));
  }
  return harmless(fmt::format("{}", fmt::join(facts, ", ")));
}

// ` (9f3c2a1b, version 4, deployed 2026-…, python3.11.2, Boto3/1.34.2)`, as far as known.
std::string program_of(const documents::Attempt& attempt) {
  std::vector<std::string> parts;
  if (!attempt.code.empty()) parts.emplace_back(attempt.code);
  if (!attempt.version.empty()) parts.push_back(fmt::format("version {}", attempt.version));
  if (!attempt.deployed_at.empty())
    parts.push_back(fmt::format("deployed {}", attempt.deployed_at));
  if (!attempt.interpreter.empty()) parts.emplace_back(attempt.interpreter);
  if (!attempt.agent.empty()) parts.emplace_back(attempt.agent);
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, ", "));
}

std::string attempt_line(std::size_t number, const documents::Attempt& attempt) {
  std::string line = fmt::format("  attempt {}: {}", number, attempt.received_at);
  if (attempt.by) line += fmt::format(" by {}", *attempt.by);
  line += program_of(attempt);
  line += fmt::format(", {}", attempt.end);
  if (attempt.shared.value_or(false)) {
    line += fmt::format(" in a batch of {}, not run alone", attempt.company.value_or(0));
  }
  if (attempt.duration_ms) line += fmt::format(" after {} ms", *attempt.duration_ms);
  if (!attempt.error_type.empty()) line += fmt::format(": {}", attempt.error_type);
  if (!attempt.error_message.empty()) line += fmt::format(": {}", attempt.error_message);
  return harmless(line) + "\n";
}

std::string event_line(const documents::Event& event) {
  std::string line = fmt::format("  {}: {}", event.what, event.at);
  if (!event.from.empty()) line += fmt::format(" from {}", queue_name_of(event.from));
  if (!event.why.empty()) line += fmt::format(" ({})", event.why);
  if (!event.actor.empty()) line += fmt::format(" by {}", event.actor);
  if (!event.reason.empty()) line += fmt::format(", {}", event.reason);
  return harmless(line) + "\n";
}

}  // namespace

std::string readable_age(Duration age) {
  const std::int64_t seconds = std::max<std::int64_t>(0, age.count() / 1000);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 86400) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / 86400);
}

std::string readable_attributes(const Terminal& terminal,
                                const sqs::MessageAttributes& attributes) {
  std::string out;
  for (const auto& [name, value] : attributes) {
    out += fmt::format("  {} ({}): {}\n",
                       paint(terminal, Color::cyan, harmless(name)),
                       harmless(value.data_type),
                       value_of(value));
  }
  return out;
}

const documents::Attempt* telling_attempt(const documents::Message& message) {
  std::string_view life;  // When the current one began.
  for (const documents::Event& event : message.events) {
    if (event.what == "redriven") life = event.at;
  }
  const documents::Attempt* found = nullptr;
  for (const documents::Attempt& attempt : message.attempts) {
    if (attempt.error_type.empty() && attempt.error_message.empty()) continue;
    const bool weaker = found != nullptr && !found->shared.value_or(false) &&
                        attempt.shared.value_or(false) && found->received_at >= life;
    if (!weaker) found = &attempt;
  }
  return found;
}

std::string readable_attempts(const Terminal& terminal, const documents::Message& message) {
  std::string out;
  // Of many attempts only the first and the last are kept; number them accordingly.
  const auto total = static_cast<std::size_t>(message.attempts_total);
  for (std::size_t i = 0; i < message.attempts.size(); ++i) {
    const bool first_ones = total <= message.attempts.size() || i < 3;
    const std::size_t number = first_ones ? i + 1 : total - message.attempts.size() + i + 1;
    out += paint(terminal, Color::dim, attempt_line(number, message.attempts[i]));
  }
  for (const documents::Event& event : message.events) {
    out += paint(terminal, Color::dim, event_line(event));
  }
  if (!message.failure_group.empty()) {
    out += paint(terminal,
                 Color::dim,
                 fmt::format("  failure group {}{}\n",
                             harmless(message.failure_group),
                             message.failed_again ? ", failed again" : ""));
  }
  return out;
}

std::string indented(std::string_view text) {
  std::string out;
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return out;
  for (const std::string_view line : split(text, '\n')) out += "  " + harmless(line) + "\n";
  return out;
}

std::string readable_body(std::string_view body) {
  if (const auto json = pretty_json(body)) return harmless_lines(*json) + "\n";
  return indented(body);
}

std::string readable_message(const Terminal& terminal, const sqs::ReceivedMessage& message,
                             Timestamp now) {
  std::string out = paint(terminal, Color::bold, message.message_id.text());
  const std::string fate = fate_of(message.attributes, now);
  if (!fate.empty()) out += "  " + paint(terminal, Color::dim, fate);
  out += '\n';
  out += readable_attributes(terminal, message.message_attributes);
  return out + readable_body(message.body);
}

std::string readable_message(const Terminal& terminal, const documents::Message& message) {
  std::string out = paint(terminal, Color::bold, message.message_id.text()) + "  " +
                    paint(terminal, Color::dim, fate_of(message)) + "\n";
  out += readable_attempts(terminal, message) + readable_attributes(terminal, message.attributes);
  return out + readable_body(message.body);
}

}  // namespace redrive::cli
