#include "events/event_document.h"

#include "base/text.h"
#include "wire/append.h"
#include "wire/encode.h"

namespace redrive::events {
namespace {

// Names are ours and need no escape.
void add_text(std::string& out, std::string_view name, std::string_view text) {
  wire::append_parts(out, std::string_view(out.back() == '{' ? "\"" : ",\""), name, "\":");
  wire::append_json_text(out, text);
}

void add_system_attributes(std::string& out, const Record& record) {
  out += R"(,"attributes":{)";
  for (const auto& [name, text] : record.attributes) add_text(out, name, text);
  out += '}';
}

void add_message_attribute(std::string& out, const RecordAttribute& attribute) {
  if (out.back() != '{') out += ',';
  wire::append_json_text(out, attribute.name);
  out += ":{";
  if (attribute.binary) {
    add_text(out, "binaryValue", base64_encode(attribute.value));
  } else {
    add_text(out, "stringValue", attribute.value);
  }
  out += R"(,"stringListValues":[],"binaryListValues":[])";
  add_text(out, "dataType", attribute.type);
  out += '}';
}

void add_rest(std::string& out, const Record& record) {
  add_system_attributes(out, record);
  out += R"(,"messageAttributes":{)";
  for (const RecordAttribute& attribute : record.message_attributes)
    add_message_attribute(out, attribute);
  out += '}';
  if (!record.message_attributes.empty())
    add_text(out, "md5OfMessageAttributes", record.md5_of_message_attributes);
  add_text(out, "md5OfBody", record.md5_of_body);
}

std::string begin_record(const Record& record) {
  std::string out;
  out.reserve(record.body.size() + 1024);
  out += '{';
  add_text(out, "messageId", record.message_id);
  add_text(out, "receiptHandle", record.receipt_handle);
  return out;
}

}  // namespace

std::string encode_record(const Record& record, const EventSource& source) {
  std::string out = begin_record(record);
  add_text(out, "body", record.body);
  add_rest(out, record);
  add_text(out, "eventSource", "aws:sqs");
  add_text(out, "eventSourceARN", source.arn);
  add_text(out, "awsRegion", source.region);
  out += '}';
  return out;
}

std::string filterable_record(const Record& record) {
  std::string out = begin_record(record);
  add_rest(out, record);
  out += '}';
  return out;
}

std::size_t records_that_fit(std::span<const std::string_view> encoded) {
  std::size_t bytes = kEventHead.size() + kEventFoot.size();
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    bytes += encoded[i].size() + (i > 0 ? 1 : 0);
    if (bytes > kEventBytesMax) return std::max<std::size_t>(i, 1);
  }
  return encoded.size();
}

std::string event_document(std::span<const std::string_view> encoded) {
  std::size_t bytes = kEventHead.size() + kEventFoot.size() + encoded.size();
  for (const std::string_view record : encoded) bytes += record.size();
  std::string out;
  out.reserve(bytes);
  out += kEventHead;
  for (const std::string_view record : encoded) {
    if (out.back() != '[') out += ',';
    out += record;
  }
  out += kEventFoot;
  return out;
}

}  // namespace redrive::events
