#include "cli/client/outgoing.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/text.h"

namespace redrive::cli {
namespace {

namespace dom = simdjson::dom;

// The member as text; nullopt if absent or null.
Answer<std::optional<std::string>> text_of(dom::object object, std::string_view name) {
  dom::element element;
  if (object[name].get(element) != simdjson::SUCCESS || element.is_null()) return std::nullopt;
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) {
    return usage_failure(fmt::format("{} must be a string", name));
  }
  return std::string(text);
}

Answer<OutgoingAttribute> read_attribute(std::string_view name, dom::element element) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) {
    return usage_failure(fmt::format("the attribute {} must be an object", name));
  }
  OutgoingAttribute attribute{.name = std::string(name)};
  attribute.type = TRY(text_of(object, "DataType")).value_or("String");
  if (!is_binary(attribute.type)) {
    attribute.value = TRY(text_of(object, "StringValue")).value_or("");
    return attribute;
  }
  auto bytes = base64_decode(TRY(text_of(object, "BinaryValue")).value_or(""));
  if (!bytes) return usage_failure(fmt::format("the attribute {} is not base64", name));
  attribute.value = std::move(*bytes);
  return attribute;
}

Answer<std::vector<OutgoingAttribute>> attributes_of(dom::object message) {
  std::vector<OutgoingAttribute> attributes;
  dom::element element;
  if (message["MessageAttributes"].get(element) != simdjson::SUCCESS || element.is_null()) {
    return attributes;
  }
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) {
    return usage_failure("MessageAttributes must be an object");
  }
  for (const auto& [name, value] : object) attributes.push_back(TRY(read_attribute(name, value)));
  return attributes;
}

// A received message has its ids and its trace among the system attributes.
Answer<std::optional<std::string>> id_of(dom::object message, std::string_view name) {
  if (auto own = TRY(text_of(message, name))) return own;
  dom::object attributes;
  if (message["Attributes"].get(attributes) != simdjson::SUCCESS) return std::nullopt;
  return text_of(attributes, name);
}

Answer<std::optional<std::int32_t>> delay_of(dom::object message) {
  dom::element element;
  if (message["DelaySeconds"].get(element) != simdjson::SUCCESS || element.is_null()) {
    return std::nullopt;
  }
  std::int64_t seconds = 0;
  if (element.get(seconds) != simdjson::SUCCESS || seconds < 0 || seconds > 900) {
    return usage_failure("DelaySeconds must be a number between 0 and 900");
  }
  return static_cast<std::int32_t>(seconds);
}

}  // namespace

std::size_t OutgoingMessage::size() const {
  std::size_t bytes = body.size();
  for (const auto& attribute : attributes) {
    bytes += attribute.name.size() + attribute.type.size() + attribute.value.size();
  }
  return bytes;
}

bool is_binary(std::string_view type) {
  return type == "Binary" || type.starts_with("Binary.");
}

sqs::MessageAttributeValue to_value(const OutgoingAttribute& attribute) {
  sqs::MessageAttributeValue value{.data_type = attribute.type};
  if (is_binary(attribute.type)) {
    value.binary_value = wire::Blob{attribute.value};
  } else {
    value.string_value = attribute.value;
  }
  return value;
}

Answer<OutgoingAttribute> parse_attribute(std::string_view text,
                                          const auth::Environment& environment) {
  const auto [left, value] = TRY(parse_pair(text));
  const std::size_t colon = left.find(':');
  OutgoingAttribute attribute{.name = left.substr(0, colon), .type = "String", .value = value};
  if (colon != std::string::npos) attribute.type = left.substr(colon + 1);
  const std::string_view base = split(attribute.type, '.').front();
  if (attribute.name.empty() || (base != "String" && base != "Number" && base != "Binary")) {
    return usage_failure(
        fmt::format("'{}': an attribute is name=value or name:Type=value, with Type one of "
                    "String, Number and Binary",
                    text));
  }
  if (base != "Binary" || !value.starts_with('@')) return attribute;
  auto bytes = environment.file(value.substr(1));
  if (!bytes) return usage_failure(fmt::format("cannot read {}", value.substr(1)));
  attribute.value = std::move(*bytes);
  return attribute;
}

Answer<std::pair<std::string, std::string>> parse_pair(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return usage_failure(fmt::format("'{}' is not of the form name=value", text));
  }
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

Answer<OutgoingMessage> parse_message_line(std::string_view line) {
  dom::parser parser;
  dom::object object;
  if (parser.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) {
    return usage_failure("a line is not a JSON object");
  }
  OutgoingMessage message;
  auto body = TRY(text_of(object, "Body"));
  if (!body) body = TRY(text_of(object, "MessageBody"));
  if (!body) return usage_failure("a line has no Body");
  message.body = std::move(*body);
  message.attributes = TRY(attributes_of(object));
  message.group = TRY(id_of(object, "MessageGroupId"));
  message.deduplication = TRY(id_of(object, "MessageDeduplicationId"));
  message.delay_seconds = TRY(delay_of(object));
  message.trace_header = TRY(id_of(object, "AWSTraceHeader"));
  return message;
}

}  // namespace redrive::cli
