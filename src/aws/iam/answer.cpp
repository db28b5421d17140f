#include "aws/iam/answer.h"

#include <fmt/format.h>

#include "aws/sqs/model/errors.h"
#include "base/calendar.h"
#include "net/wire/encode.h"

namespace redrive::iam {
namespace {

constexpr std::string_view namespace_of(Service service) {
  return service == Service::iam ? "https://iam.amazonaws.com/doc/2010-05-08/"
                                 : "https://sts.amazonaws.com/doc/2011-06-15/";
}

}  // namespace

std::unexpected<Refusal> no_such_entity(std::string message) {
  return refuse(404, "NoSuchEntity", std::move(message));
}

Refusal refusal_of(const Error& error) {
  const sqs::ErrorRow& row = sqs::error_row(error.code);
  return {row.query_status, row.query_code, error.message};
}

void Xml::open(std::string_view name) {
  out_.append("<").append(name).append(">");
}

void Xml::close(std::string_view name) {
  out_.append("</").append(name).append(">");
}

void Xml::text(std::string_view name, std::string_view value) {
  element(name, [&] { wire::append_xml_text(out_, value); });
}

void Xml::number(std::string_view name, std::int64_t value) {
  text(name, std::to_string(value));
}

void Xml::flag(std::string_view name, bool value) {
  text(name, value ? "true" : "false");
}

void Xml::time(std::string_view name, Timestamp value) {
  text(name, format_utc(value).substr(0, 19) + "Z");
}

std::string success_document(Service service, std::string_view action, const Xml& result,
                             std::string_view request_id) {
  const std::string body =
      result.is_result() ? fmt::format("<{}Result>{}</{}Result>", action, result.contents(), action)
                         : std::string();
  return fmt::format(
      "<{}Response xmlns=\"{}\">{}<ResponseMetadata><RequestId>{}</RequestId></ResponseMetadata>"
      "</{}Response>",
      action,
      namespace_of(service),
      body,
      request_id,
      action);
}

std::string error_document(Service service, const Refusal& refusal, std::string_view request_id) {
  Xml error;
  error.element("Error", [&] {
    error.text("Type", refusal.status < 500 ? "Sender" : "Receiver");
    error.text("Code", refusal.code);
    error.text("Message", refusal.message);
  });
  error.text("RequestId", request_id);
  return fmt::format(
      "<ErrorResponse xmlns=\"{}\">{}</ErrorResponse>", namespace_of(service), error.contents());
}

}  // namespace redrive::iam
