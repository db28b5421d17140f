#include "cli/message_view.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/json_text.h"
#include "cli/queue_document.h"
#include "cli/queue_name.h"

namespace redrive::cli {
namespace {

// What the system attributes say, as far as they came.
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

}  // namespace

std::string readable_age(Duration age) {
  const std::int64_t seconds = std::max<std::int64_t>(0, age.count() / 1000);
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min", seconds / 60);
  if (seconds < 86400) return fmt::format("{} h", seconds / 3600);
  return fmt::format("{} d", seconds / 86400);
}

std::string readable_message(const Terminal& terminal, const sqs::ReceivedMessage& message,
                             Timestamp now) {
  std::string out = paint(terminal, Color::bold, message.message_id.text());
  const std::string fate = fate_of(message.attributes, now);
  if (!fate.empty()) out += "  " + paint(terminal, Color::dim, fate);
  out += '\n';
  for (const auto& [name, value] : message.message_attributes) {
    out += fmt::format("  {} ({}): {}\n",
                       paint(terminal, Color::cyan, harmless(name)),
                       harmless(value.data_type),
                       value_of(value));
  }
  out += harmless(pretty_json(message.body).value_or(std::string(message.body)));
  return out + "\n";
}

}  // namespace redrive::cli
