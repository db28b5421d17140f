#include "aws/sqs/model/reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "aws/sqs/model/errors.h"
#include "base/text.h"

namespace redrive::sqs {
namespace {

constexpr std::string_view kXmlDeclaration = "<?xml version=\"1.0\"?>";
constexpr std::string_view kNamespace = "http://queue.amazonaws.com/doc/2012-11-05/";

// Errors that tell of our files and sockets tell it to the log, not to clients.
bool is_private(ErrorCode code) {
  return code > ErrorCode::internal_failure;
}

// An error may quote what a client sent; the answer is UTF-8 whatever that was.
std::string message_for_clients(const Error& error) {
  if (is_private(error.code)) return "The server failed to complete the request; see its log.";
  std::string message = error.message;
  if (is_utf8(message)) return message;
  std::ranges::replace_if(
      message, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  return message;
}

std::string_view fault_name(ErrorCode code) {
  return error_row(code).fault == Fault::sender ? "Sender" : "Receiver";
}

std::string message_in_query(const Error& error) {
  if (error.code == ErrorCode::queue_does_not_exist) {
    return "The specified queue does not exist for this wsdl version.";
  }
  return message_for_clients(error);
}

// Lists, which Query flattens, appear under a name that begins small.
std::string rendition_name(const wire::Field& field) {
  std::string name(field.name);
  const bool list = field.type->kind == wire::Kind::list;
  if (list && name[0] >= 'A' && name[0] <= 'Z') name[0] = static_cast<char>(name[0] + ('a' - 'A'));
  return name;
}

void encode_rendition(std::string& out, const wire::Record& record, const void* output);

void encode_rendition_item(std::string& out, const wire::Type& type, const void* value) {
  if (type.kind == wire::Kind::record) return encode_rendition(out, *type.record, value);
  wire::encode_json_value(out, type, value);
}

// As in XML, a map is a list of pairs, and its items have the same names for key and value.
void encode_rendition_value(std::string& out, const wire::Field& field, const void* value) {
  const wire::Type& type = wire::bare(*field.type);
  if (!wire::is_collection(type)) return encode_rendition_item(out, type, value);
  out += '[';
  for (std::size_t i = 0; i < type.size(value); ++i) {
    if (i > 0) out += ',';
    if (type.kind == wire::Kind::map) {
      fmt::format_to(std::back_inserter(out), "{{\"{}\":", field.traits.key_name);
      wire::append_json_text(out, type.key(value, i));
      fmt::format_to(std::back_inserter(out), ",\"{}\":", field.traits.value_name);
    }
    encode_rendition_item(out, *type.inner, type.item(value, i));
    if (type.kind == wire::Kind::map) out += '}';
  }
  out += ']';
}

void encode_rendition(std::string& out, const wire::Record& record, const void* output) {
  out += '{';
  for (std::string_view separator; const wire::Field& field : record.fields) {
    const void* value = wire::value_to_write(field, output);
    if (value == nullptr) continue;
    fmt::format_to(std::back_inserter(out), "{}\"{}\":", separator, rendition_name(field));
    encode_rendition_value(out, field, value);
    separator = ",";
  }
  out += '}';
}

// <Result>...</Result>, or <Result/> when nothing came.
void encode_result(std::string& out, std::string_view action, const wire::Record& record,
                   const void* output) {
  const std::size_t start = out.size();
  fmt::format_to(std::back_inserter(out), "<{}Result>", action);
  const std::size_t opened = out.size();
  wire::encode_xml(out, record, output);
  const bool empty = out.size() == opened;
  if (empty) out.resize(start);
  fmt::format_to(
      std::back_inserter(out), "<{}{}Result{}>", empty ? "" : "/", action, empty ? "/" : "");
}

}  // namespace

void encode_json_error(std::string& out, const Error& error) {
  out += "{\"__type\":";
  wire::append_json_text(out, error_row(error.code).json_type);
  out += ",\"message\":";
  wire::append_json_text(out, message_for_clients(error));
  out += '}';
}

void append_query_error_header(std::string& out, const Error& error) {
  out += error_row(error.code).query_code;
  out += ';';
  out += fault_name(error.code);
}

void encode_query_error(std::string& out, const Error& error, std::string_view request_id) {
  out += kXmlDeclaration;
  if (error.code == ErrorCode::unknown_operation) {
    out += "<UnknownOperationException/>";
    return;
  }
  fmt::format_to(std::back_inserter(out),
                 "<ErrorResponse xmlns=\"{}\"><Error><Type>{}</Type><Code>{}</Code><Message>",
                 kNamespace,
                 fault_name(error.code),
                 error_row(error.code).query_code);
  wire::append_xml_text(out, message_in_query(error));
  out += "</Message><Detail/></Error><RequestId>";
  wire::append_xml_text(out, request_id);
  out += "</RequestId></ErrorResponse>";
}

void encode_query_error_as_json(std::string& out, const Error& error, std::string_view request_id) {
  fmt::format_to(std::back_inserter(out),
                 "{{\"Error\":{{\"Type\":\"{}\",\"Code\":\"{}\",\"Message\":",
                 fault_name(error.code),
                 error_row(error.code).query_code);
  wire::append_json_text(out, message_in_query(error));
  fmt::format_to(std::back_inserter(out), ",\"Detail\":null}},\"RequestId\":\"{}\"}}", request_id);
}

void encode_query_reply(std::string& out, std::string_view action, const wire::Record& record,
                        const void* output, std::string_view request_id) {
  fmt::format_to(
      std::back_inserter(out), "{}<{}Response xmlns=\"{}\">", kXmlDeclaration, action, kNamespace);
  if (!record.fields.empty()) encode_result(out, action, record, output);
  fmt::format_to(std::back_inserter(out),
                 "<ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata></{}Response>",
                 request_id,
                 action);
}

void encode_query_reply_as_json(std::string& out, std::string_view action,
                                const wire::Record& record, const void* output,
                                std::string_view request_id) {
  fmt::format_to(std::back_inserter(out), "{{\"{}Response\":{{", action);
  if (!record.fields.empty()) {
    fmt::format_to(std::back_inserter(out), "\"{}Result\":", action);
    encode_rendition(out, record, output);
    out += ',';
  }
  fmt::format_to(
      std::back_inserter(out), "\"ResponseMetadata\":{{\"RequestId\":\"{}\"}}}}}}", request_id);
}

}  // namespace redrive::sqs
