#include "events/event_document.h"

#include "base/text.h"
#include "wire/append.h"
#include "wire/encode.h"
#include "wire/scan.h"

namespace redrive::events {
namespace {

using namespace std::string_view_literals;

// Names are ours and need no escape.
void add_text(std::string& out, std::string_view name, std::string_view text) {
  const std::string_view begin = out.back() == '{' ? "\""sv : ",\""sv;
  const char* const end = text.data() + text.size();
  if (wire::scan_to<wire::JsonEscapes>(text.data(), end) == end)
    return wire::append_parts(out, begin, name, "\":\"", text, "\"");
  wire::append_parts(out, begin, name, "\":");
  wire::append_json_text(out, text);
}

void add_system_attributes(std::string& out, const Record& record) {
  out += R"(,"attributes":{)"sv;
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
  out += R"(,"messageAttributes":{)"sv;
  for (const RecordAttribute& attribute : record.message_attributes)
    add_message_attribute(out, attribute);
  out += '}';
  // Digests need no escape.
  if (!record.message_attributes.empty()) {
    wire::append_parts(
        out, R"(,"md5OfMessageAttributes":")", record.md5_of_message_attributes, "\"");
  }
  wire::append_parts(out, R"(,"md5OfBody":")", record.md5_of_body, "\"");
}

// Neither ids nor handles need an escape.
void begin_record(std::string& out, const Record& record) {
  wire::append_parts(out,
                     R"({"messageId":")",
                     record.message_id,
                     R"(","receiptHandle":")",
                     record.receipt_handle,
                     "\"");
}

}  // namespace

std::string record_foot(const EventSource& source) {
  std::string out = R"(,"eventSource":"aws:sqs")";
  add_text(out, "eventSourceARN", source.arn);
  add_text(out, "awsRegion", source.region);
  out += '}';
  return out;
}

void append_record(std::string& out, const Record& record, std::string_view foot) {
  begin_record(out, record);
  add_text(out, "body", record.body);
  add_rest(out, record);
  out += foot;
}

std::string filterable_record(const Record& record) {
  std::string out;
  begin_record(out, record);
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
