#include "manage/refusals.h"

#include <fmt/format.h>

#include "aws/sqs/model/errors.h"
#include "net/wire/encode.h"

namespace redrive::manage {
namespace {

struct ErrorDetail {
  std::string_view code;
  std::string_view message;
};
consteval auto shape_of(ErrorDetail*) {
  return wire::shape(wire::required("code", &ErrorDetail::code),
                     wire::required("message", &ErrorDetail::message));
}
struct ErrorDocument {
  ErrorDetail error;
};
consteval auto shape_of(ErrorDocument*) {
  return wire::shape(wire::required("error", &ErrorDocument::error));
}

// SQS answers 400 to nearly everything; here a missing resource is a 404.
int status_of(const sqs::ErrorRow& row) {
  switch (row.code) {
    case ErrorCode::queue_does_not_exist:
      return 404;
    case ErrorCode::queue_name_exists:
      return 409;
    default:
      return row.json_status;
  }
}

std::string_view name_of(const sqs::ErrorRow& row) {
  constexpr std::string_view kPrefix = "AWS.SimpleQueueService.";
  const std::string_view code = row.query_code;
  return code.starts_with(kPrefix) ? code.substr(kPrefix.size()) : code;
}

}  // namespace

front::Refusal refusal_of(const Error& error) {
  const sqs::ErrorRow& row = sqs::error_row(error.code);
  return {status_of(row), name_of(row), error.message};
}

std::string_view code_of(const Error& error) {
  return name_of(sqs::error_row(error.code));
}

front::Refusal no_such_path(std::string_view path) {
  return {404,
          "NotFound",
          fmt::format("{} does not exist; /_redrive/v1/openapi.yaml describes the API.", path)};
}

front::Refusal method_not_allowed(std::string_view method, std::string allowed) {
  front::Refusal refusal(
      405,
      "MethodNotAllowed",
      fmt::format("This path does not support {}; it supports {}.", method, allowed));
  refusal.headers.emplace_back("Allow", std::move(allowed));
  return refusal;
}

front::Refusal too_many_sign_ins() {
  front::Refusal refusal(
      429, "TooManySignIns", "Too many failed attempts to sign in. Try again in a minute.");
  refusal.headers.emplace_back("Retry-After", "60");
  return refusal;
}

http::Answer encode_refusal(const front::RequestContext&, const front::Refusal& refusal) {
  http::Answer answer{
      .status = refusal.status, .content_type = "application/json", .headers = refusal.headers};
  wire::encode_json(answer.body, ErrorDocument{{refusal.code, refusal.message}});
  return answer;
}

}  // namespace redrive::manage
