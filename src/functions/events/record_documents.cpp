#include "functions/events/record_documents.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "base/calendar.h"
#include "net/wire/append.h"
#include "net/wire/encode.h"

namespace redrive::events {
namespace {

void add_member(std::string& out, std::string_view name, std::string_view text) {
  wire::append_parts(out, std::string_view(out.back() == '{' ? "\"" : ",\""), name, "\":");
  wire::append_json_text(out, text);
}

// A response that is not JSON becomes a string.
void add_payload(std::string& out, std::string_view name, std::string_view payload) {
  wire::append_parts(out, ",\"", name, "\":");
  simdjson::dom::parser parser;
  if (payload.empty()) {
    out += "null";
  } else if (parser.parse(payload.data(), payload.size()).error() == simdjson::SUCCESS) {
    out += payload;
  } else {
    wire::append_json_text(out, payload);
  }
}

template <class AnyRecord>
void add_request_context(std::string& out, const AnyRecord& record) {
  out += R"("requestContext":{)";
  add_member(out, "requestId", record.request_id);
  add_member(out, "functionArn", record.function_arn);
  add_member(out, "condition", record.condition);
  fmt::format_to(std::back_inserter(out), R"(,"approximateInvokeCount":{}}})", record.invoke_count);
}

void add_response_context(std::string& out, const InvocationOutcome& outcome) {
  fmt::format_to(std::back_inserter(out),
                 R"(,"responseContext":{{"statusCode":{},"executedVersion":)",
                 outcome.status);
  wire::append_json_text(out, outcome.executed_version);
  if (outcome.function_error) out += R"(,"functionError":"Unhandled")";
}

void add_batch_info(std::string& out, const BatchRecord& record) {
  out += R"(,"SQSBatchInfo":{)";
  add_member(out, "queueArn", record.queue_arn);
  fmt::format_to(
      std::back_inserter(out), R"(,"batchSize":{},"messageIds":[)", record.message_ids.size());
  for (const std::string_view id : record.message_ids) {
    if (out.back() != '[') out += ',';
    wire::append_json_text(out, id);
  }
  out += ']';
  add_member(out, "approximateArrivalOfFirstRecord", format_utc(record.first_arrival));
  add_member(out, "approximateArrivalOfLastRecord", format_utc(record.last_arrival));
  out += '}';
}

void add_records(std::string& out, std::span<const std::string_view> records) {
  out += R"(,"payload":{"Records":[)";
  for (const std::string_view record : records) {
    if (out.back() != '[') out += ',';
    out += record;
  }
  out += "]}";
}

// YYYY/MM/DD/YYYY-MM-DDTHH.MM.SS-<uuid>
std::string dated_key(Timestamp wall, std::string_view uuid) {
  std::string time = format_utc(wall).substr(0, 19);
  for (char& c : time) c = c == ':' ? '.' : c;
  return fmt::format(
      "{}/{}/{}/{}-{}", time.substr(0, 4), time.substr(5, 2), time.substr(8, 2), time, uuid);
}

}  // namespace

std::string write_async_record(const AsyncRecord& record) {
  std::string out = "{";
  add_member(out, "version", "1.0");
  add_member(out, "timestamp", format_utc(record.wall));
  out += ',';
  add_request_context(out, record);
  add_payload(out, "requestPayload", record.request_payload);
  add_response_context(out, record.outcome);
  out += '}';
  add_payload(out, "responsePayload", record.outcome.payload);
  out += '}';
  return out;
}

std::string write_batch_record(const BatchRecord& record) {
  std::string out = "{";
  add_request_context(out, record);
  if (record.outcome) {
    add_response_context(out, *record.outcome);
    if (record.reported_by_item) out += R"(,"functionError":null)";
    out += '}';
  }
  add_member(out, "version", "1.0");
  add_member(out, "timestamp", format_utc(record.wall));
  add_batch_info(out, record);
  add_records(out, record.records);
  if (record.outcome) add_payload(out, "responsePayload", record.outcome->payload);
  out += '}';
  return out;
}

std::string async_record_key(std::string_view function_name, Timestamp wall,
                             std::string_view uuid) {
  return fmt::format("aws/lambda/async/{}/{}", function_name, dated_key(wall, uuid));
}

std::string batch_record_key(std::string_view mapping_uuid, std::string_view queue_name,
                             Timestamp wall, std::string_view uuid) {
  return fmt::format("aws/lambda/{}/{}/{}", mapping_uuid, queue_name, dated_key(wall, uuid));
}

}  // namespace redrive::events
