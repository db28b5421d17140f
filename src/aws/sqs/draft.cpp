#include "aws/sqs/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "core/store/message_codec.h"

namespace redrive::sqs {
namespace {

constexpr std::size_t kAttributesMax = 10;
constexpr std::size_t kAttributeNameMax = 256;
constexpr std::size_t kDataTypeMax = 256;
constexpr std::size_t kTraceHeaderMax = 4096;
constexpr std::string_view kTraceHeader = "AWSTraceHeader";

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::invalid_parameter_value, std::move(message));
}

bool is_binary(const MessageAttributeValue& value) {
  return value.data_type.starts_with("Binary");
}

std::string_view value_bytes(const MessageAttributeValue& value) {
  if (value.binary_value && is_binary(value)) return value.binary_value->bytes;
  return value.string_value.value_or("");
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && iequals(text.substr(0, prefix.size()), prefix);
}

// AWS takes A-Z, a-z, 0-9, '_', '-' and '.', and no letter outside ASCII.
bool is_attribute_name_text(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

// Earlier versions also accepted Latin letters with marks (U+00C0..U+024F). Messages that were
// stored with such names stay editable and restorable.
bool is_stored_name_text(std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '.';
    if (plain) continue;
    if (c < 0x80) return false;
    // U+00C0..U+024F: Latin letters with marks, two bytes beginning C3..C9.
    const bool latin =
        c >= 0xc3 && c <= 0xc9 && i + 1 < name.size() && (name[i + 1] & 0xc0) == 0x80;
    const bool sign =
        c == 0xc3 && latin && (name[i + 1] == '\x97' || name[i + 1] == '\xb7');  // × and ÷
    if (!latin || sign) return false;
    ++i;
  }
  return true;
}

Result<void> check_attribute_name(std::string_view name, SendForm form) {
  if (name.empty() || name.size() > kAttributeNameMax) {
    return invalid("Message (user) attribute name must be between 1 and 256 characters long.");
  }
  const bool allowed =
      form == SendForm::stored ? is_stored_name_text(name) : is_attribute_name_text(name);
  if (!allowed) {
    return invalid(fmt::format(
        "Message (user) attribute name '{}' is invalid: it can contain alphanumeric characters, "
        "the underscore, hyphen and period.",
        name));
  }
  if (starts_with_ignoring_case(name, "AWS.") || starts_with_ignoring_case(name, "Amazon.")) {
    return invalid(fmt::format(
        "Message (user) attribute name '{}' must not start with a reserved prefix.", name));
  }
  if (name.starts_with('.') || name.ends_with('.') || name.find("..") != std::string_view::npos) {
    return invalid(fmt::format(
        "Message (user) attribute name '{}' must not start or end with a period, or have periods "
        "in succession.",
        name));
  }
  return {};
}

// Sign, digits, a point, an exponent; at most 38 digits count; 10^-128 to 10^126.
bool is_number(std::string_view text) {
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  int digits = 0;
  int significant = 0;
  int magnitude = 0;  // Power of ten of the first significant digit.
  bool point = false;
  for (; at < text.size() && (text[at] == '.' || (text[at] >= '0' && text[at] <= '9')); ++at) {
    if (text[at] == '.') {
      if (point) return false;
      point = true;
      continue;
    }
    ++digits;
    if (significant > 0 || text[at] != '0') ++significant;
    if (significant > 0 && !point) ++magnitude;
    if (significant == 0 && point) --magnitude;
  }
  if (digits == 0) return false;
  int exponent = 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::string_view rest = text.substr(at + 1);
    if (rest.starts_with('+')) rest.remove_prefix(1);
    const auto parsed = parse_int<int>(rest);
    if (!parsed || *parsed < -1000 || *parsed > 1000) return false;
    exponent = *parsed;
    at = text.size();
  }
  const int order = magnitude + exponent;
  return at == text.size() && significant <= 38 &&
         (significant == 0 || (order >= -127 && order <= 127));
}

Result<void> check_attribute_value(std::string_view name, const MessageAttributeValue& value) {
  if (!value.string_list_values.empty() || !value.binary_list_values.empty()) {
    return invalid(fmt::format(
        "Message (user) attribute '{}' contains list values, which are not supported.", name));
  }
  const std::string_view type = value.data_type.substr(0, value.data_type.find('.'));
  const bool known = type == "String" || type == "Number" || type == "Binary";
  if (!known || value.data_type.size() > kDataTypeMax || !is_message_text(value.data_type)) {
    return invalid(fmt::format(
        "The type of message (user) attribute '{}' is invalid. You must use only the following "
        "supported type prefixes: Binary, Number, String.",
        name));
  }
  const bool has_value =
      type == "Binary" ? value.binary_value.has_value() : value.string_value.has_value();
  if (!has_value || value_bytes(value).empty()) {
    return invalid(
        fmt::format("Message (user) attribute '{}' must contain a non-empty value of type '{}'.",
                    name,
                    value.data_type));
  }
  if (type == "Binary") return {};
  if (!is_message_text(*value.string_value)) {
    return invalid(fmt::format(
        "Invalid binary character was found in the message attribute '{}' value; the set of "
        "allowed characters is #x9 | #xA | #xD | [#x20 to #xD7FF] | [#xE000 to #xFFFD] | [#x10000 "
        "to #x10FFFF]",
        name));
  }
  if (type == "Number" && !is_number(*value.string_value)) {
    return invalid(
        fmt::format("Can't cast the value of message (user) attribute '{}' to a number.", name));
  }
  return {};
}

Result<void> check_attributes(const MessageAttributes& attributes, SendForm form) {
  if (attributes.size() > kAttributesMax) {
    return invalid(fmt::format(
        "Number of message attributes [{}] exceeds the allowed maximum [10].", attributes.size()));
  }
  for (const auto& [name, value] : attributes) {
    RETURN_IF_ERROR(check_attribute_name(name, form));
    RETURN_IF_ERROR(check_attribute_value(name, value));
  }
  return {};
}

Result<void> check_system_attributes(const MessageAttributes& attributes) {
  for (const auto& [name, value] : attributes) {
    if (name != kTraceHeader) {
      return invalid(fmt::format("Message system attribute name '{}' is invalid.", name));
    }
    if (value.data_type != "String" || value.string_value.value_or("").empty() ||
        value.string_value->size() > kTraceHeaderMax || !is_message_text(*value.string_value)) {
      return invalid(fmt::format(
          "Message system attribute '{}' must contain a non-empty value of type 'String'.", name));
    }
  }
  return {};
}

Result<void> check_id(std::string_view parameter, const std::optional<std::string_view>& value) {
  if (!value || is_id_text(*value)) return {};
  return invalid(fmt::format(
      "Value {0} for parameter {1} is invalid. Reason: {1} can only include alphanumeric and "
      "punctuation characters. 1 to 128 in length.",
      *value,
      parameter));
}

Result<void> check_for_fifo(const OutgoingMessage& message, const queue::FifoSettings& fifo) {
  if (message.delay_seconds.value_or(0) > 0) {
    return invalid(
        fmt::format("Value {} for parameter DelaySeconds is invalid. Reason: The request include "
                    "parameter that "
                    "is not valid for this queue type.",
                    *message.delay_seconds));
  }
  if (!message.group_id)
    return fail(ErrorCode::missing_parameter,
                "The request must contain the parameter MessageGroupId.");
  if (!message.dedup_id && !fifo.content_based_dedup) {
    return invalid(
        "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId "
        "provided explicitly");
  }
  return {};
}

Result<void> check_for_standard(const OutgoingMessage& message) {
  if (!message.dedup_id) return {};
  return invalid(fmt::format(
      "Value {} for parameter MessageDeduplicationId is invalid. Reason: The request includes a "
      "parameter that is not valid for this queue type.",
      *message.dedup_id));
}

Result<void> check_size(const OutgoingMessage& message, const queue::QueueSettings& settings,
                        SendForm form) {
  if (message_bytes(message) <= settings.message_bytes_max) return {};
  return invalid(
      fmt::format("One or more parameters {}. Reason: Message must be shorter than {} bytes.",
                  form == SendForm::batch_entry ? "cannot be validated" : "are invalid",
                  settings.message_bytes_max));
}

void append_digest_part(std::string& out, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((size >> shift) & 0xff);
  out += text;
}

}  // namespace

bool is_id_text(std::string_view text) {
  return !text.empty() && text.size() <= 128 &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::size_t message_bytes(const OutgoingMessage& message) {
  std::size_t bytes = message.body.size();
  for (const auto& [name, value] : message.attributes) {
    bytes += name.size() + value.data_type.size() + value_bytes(value).size();
  }
  return bytes;
}

Result<void> check_message(const OutgoingMessage& message, const queue::QueueSettings& settings,
                           SendForm form) {
  if (message.body.empty())
    return fail(ErrorCode::missing_parameter,
                "The request must contain the parameter MessageBody.");
  RETURN_IF_ERROR(check_size(message, settings, form));
  if (!is_message_text(message.body)) {
    return fail(ErrorCode::invalid_message_contents,
                "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to "
                "#xD7FF | #xE000 to "
                "#xFFFD | #x10000 to #x10FFFF");
  }
  if (!message.attributes.empty()) RETURN_IF_ERROR(check_attributes(message.attributes, form));
  if (!message.system_attributes.empty())
    RETURN_IF_ERROR(check_system_attributes(message.system_attributes));
  RETURN_IF_ERROR(check_id("MessageDeduplicationId", message.dedup_id));
  RETURN_IF_ERROR(check_id("MessageGroupId", message.group_id));
  if (message.delay_seconds &&
      (*message.delay_seconds < 0 || *message.delay_seconds > queue::kDelayMax.count())) {
    return invalid(fmt::format(
        "Value {} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= "
        "900.",
        *message.delay_seconds));
  }
  return settings.fifo ? check_for_fifo(message, *settings.fifo) : check_for_standard(message);
}

void prepare_message(const Sender& sender, const OutgoingMessage& message,
                     const queue::QueueSettings& settings, PreparedMessage& prepared) {
  prepared.tail.clear();
  prepared.dedup.clear();
  prepared.md5_of_attributes.reset();
  prepared.md5_of_system_attributes.reset();
  store::MessageContents contents;
  contents.body = message.body;
  contents.sender = sender.id;
  contents.trace = sender.trace.size() <= kTraceHeaderMax ? sender.trace : std::string_view();
  for (const auto& [name, value] : message.system_attributes) contents.trace = *value.string_value;
  if (!message.system_attributes.empty()) {
    prepared.md5_of_system_attributes = md5_of_attributes(message.system_attributes);
  }
  std::string attributes;
  if (!message.attributes.empty()) {
    prepared.md5_of_attributes = contents.md5_of_attributes = md5_of_attributes(message.attributes);
    contents.attribute_count = static_cast<std::uint8_t>(message.attributes.size());
    for (const auto& [name, value] : message.attributes) {
      store::append_attribute(attributes,
                              {name, value.data_type, value_bytes(value), is_binary(value)});
    }
    contents.attributes = attributes;
  }
  contents.group = message.group_id.value_or("");
  if (settings.fifo) {
    if (message.dedup_id) {
      prepared.dedup = *message.dedup_id;
    } else {
      prepared.dedup = sha256_hex(message.body);
    }
    contents.dedup = prepared.dedup;
  }
  store::encode_tail(prepared.tail, contents);
  const std::string_view tail = prepared.tail;
  prepared.body = tail.substr(tail.size() - message.body.size());
  prepared.draft = {.group = tail.substr(store::kTailTextsAt, contents.group.size()),
                    .dedup = prepared.dedup,
                    .tail = tail,
                    .tail_crc = 0,
                    .delay = std::nullopt,
                    .bytes = static_cast<std::uint32_t>(message_bytes(message))};
  if (message.delay_seconds && !settings.fifo)
    prepared.draft.delay = std::chrono::seconds(*message.delay_seconds);
}

void set_digest(PreparedMessage& prepared, const Md5& md5_of_body) {
  store::set_body_digest(prepared.tail, md5_of_body);
  prepared.draft.tail_crc = crc32c(prepared.tail);
}

Md5 md5_of_attributes(const MessageAttributes& attributes) {
  std::vector<const MessageAttributes::value_type*> sorted;
  for (const auto& attribute : attributes) sorted.push_back(&attribute);
  std::ranges::sort(sorted, {}, [](const auto* attribute) { return attribute->first; });
  std::string digested;
  for (const auto* attribute : sorted) {
    append_digest_part(digested, attribute->first);
    append_digest_part(digested, attribute->second.data_type);
    digested += is_binary(attribute->second) ? '\x02' : '\x01';
    append_digest_part(digested, value_bytes(attribute->second));
  }
  return md5(digested);
}

}  // namespace redrive::sqs
