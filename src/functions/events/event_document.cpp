#include "functions/events/event_document.h"

#include "base/text.h"
#include "functions/events/marshal_document.h"
#include "net/wire/append.h"
#include "net/wire/encode.h"
#include "net/wire/scan.h"

namespace redrive::events {
namespace {

using namespace std::string_view_literals;

// Names are our own and need no escaping.
void add_text(std::string& out, std::string_view name, std::string_view text) {
  const std::string_view begin = out.back() == '{' ? "\""sv : ",\""sv;
  const char* const end = text.data() + text.size();
  if (wire::scan_to<wire::JsonEscapesOrHigh>(text.data(), end) == end)
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
  // Digests need no escaping.
  if (!record.message_attributes.empty()) {
    wire::append_parts(
        out, R"(,"md5OfMessageAttributes":")", record.md5_of_message_attributes, "\"");
  }
  wire::append_parts(out, R"(,"md5OfBody":")", record.md5_of_body, "\"");
}

// Ids and handles need no escaping.
void begin_record(std::string& out, const Record& record) {
  wire::append_parts(out,
                     R"({"messageId":")",
                     record.message_id,
                     R"(","receiptHandle":")",
                     record.receipt_handle,
                     "\"");
}

std::string json_record_foot(const EventSource& source) {
  std::string out = R"(,"eventSource":"aws:sqs")";
  add_text(out, "eventSourceARN", source.arn);
  add_text(out, "awsRegion", source.region);
  out += '}';
  return out;
}

}  // namespace

EventFrame event_frame(const EventSource& source, EventFormat format) {
  if (format == EventFormat::marshal) {
    return {.format = format,
            .head = marshal::event_head(source),
            .separator = {},
            .foot = marshal::kEventFoot,
            .record_foot = marshal::record_foot()};
  }
  return {.format = format,
          .head = R"({"Records":[)",
          .separator = ",",
          .foot = "]}",
          .record_foot = json_record_foot(source)};
}

void append_record(std::string& out, const Record& record, const EventFrame& frame) {
  if (frame.format == EventFormat::marshal)
    return marshal::append_record(out, record, frame.record_foot);
  begin_record(out, record);
  add_text(out, "body", record.body);
  add_rest(out, record);
  out += frame.record_foot;
}

void end_event(std::string& event, std::size_t records, const EventFrame& frame) {
  event += frame.foot;
  if (frame.format == EventFormat::marshal) marshal::set_count(event, frame.head.size(), records);
}

std::string filterable_record(const Record& record) {
  std::string out;
  begin_record(out, record);
  add_rest(out, record);
  out += '}';
  return out;
}

std::string event_document(std::span<const std::string_view> encoded, const EventFrame& frame) {
  std::size_t bytes = frame.head.size() + frame.foot.size() + encoded.size();
  for (const std::string_view record : encoded) bytes += record.size();
  std::string out;
  out.reserve(bytes);
  out += frame.head;
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (i > 0) out += frame.separator;
    out += encoded[i];
  }
  end_event(out, encoded.size(), frame);
  return out;
}

std::string json_of_record(std::string_view encoded, const EventFrame& frame) {
  if (frame.format == EventFormat::marshal) return marshal::json_of_record(encoded, frame.head);
  return std::string(encoded);
}

}  // namespace redrive::events
