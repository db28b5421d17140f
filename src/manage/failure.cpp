#include "manage/failure.h"

#include <fmt/format.h>

#include "sqs/errors.h"
#include "wire/encode.h"

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

// SQS answers 400 to nearly everything; here what is missing is not found.
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

Failure failure_of(const Error& error) {
  const sqs::ErrorRow& row = sqs::error_row(error.code);
  return {.status = status_of(row), .code = name_of(row), .message = error.message, .allowed = {}};
}

Failure no_such_path(std::string_view path) {
  return {.status = 404,
          .code = "NotFound",
          .message = fmt::format(
              "There is nothing at {}; /_redrive/v1/openapi.yaml lists what there is.", path),
          .allowed = {}};
}

Failure method_not_allowed(std::string_view method, std::string allowed) {
  std::string message = fmt::format("This path does not take {}, but {}.", method, allowed);
  return {.status = 405,
          .code = "MethodNotAllowed",
          .message = std::move(message),
          .allowed = std::move(allowed)};
}

void append_failure(std::string& out, const Failure& failure) {
  wire::encode_json(out, ErrorDocument{{failure.code, failure.message}});
}

}  // namespace redrive::manage
