#include "aws/lambda/answer.h"

#include <fmt/format.h>

namespace redrive::lambda {
namespace {

struct ErrorRow {
  ErrorCode code;
  int status;
  std::string_view name;
};
// Errors of other modules that do not concern the parameters of the request.
constexpr ErrorRow kErrors[] = {
    {ErrorCode::malformed_request, 400, "SerializationException"},
    {ErrorCode::request_too_large, 413, "RequestTooLargeException"},
    {ErrorCode::resource_not_found, 404, "ResourceNotFoundException"},
    {ErrorCode::access_denied, 403, "AccessDeniedException"},
    {ErrorCode::missing_authentication_token, 403, "MissingAuthenticationTokenException"},
    {ErrorCode::incomplete_signature, 403, "IncompleteSignatureException"},
    {ErrorCode::invalid_client_token_id, 403, "UnrecognizedClientException"},
    {ErrorCode::signature_does_not_match, 403, "InvalidSignatureException"},
    {ErrorCode::request_throttled, 429, "TooManyRequestsException"},
    {ErrorCode::service_unavailable, 503, "ServiceException"},
    {ErrorCode::internal_failure, 500, "ServiceException"},
    {ErrorCode::storage_damaged, 500, "ServiceException"},
    {ErrorCode::storage_io, 500, "ServiceException"},
    {ErrorCode::storage_full, 507, "ServiceException"},
};

struct ErrorBody {
  std::string_view reason;
  std::string_view type;
  std::string_view upper_message;
  std::string_view lower_message;
};
consteval auto shape_of(ErrorBody*) {
  return wire::shape(wire::optional("Reason", &ErrorBody::reason),
                     wire::required("Type", &ErrorBody::type),
                     wire::optional("Message", &ErrorBody::upper_message).content(),
                     wire::optional("message", &ErrorBody::lower_message).content());
}

}  // namespace

std::unexpected<Refusal> invalid(std::string message) {
  return refuse(400, "InvalidParameterValueException", std::move(message));
}

std::unexpected<Refusal> breaks_constraint(std::string_view value, std::string_view where,
                                           std::string_view constraint) {
  return refuse(400,
                "ValidationException",
                fmt::format("1 validation error detected: Value '{}' at '{}' failed to satisfy "
                            "constraint: Member must {}",
                            value,
                            where,
                            constraint));
}

std::unexpected<Refusal> not_found(std::string message) {
  return refuse(404, "ResourceNotFoundException", std::move(message));
}

Refusal refusal_of(const Error& error) {
  for (const ErrorRow& row : kErrors) {
    if (row.code == error.code) return {row.status, row.name, error.message};
  }
  return {400, "InvalidParameterValueException", error.message};
}

Answer answer_of(const Refusal& refusal) {
  // Lambda spells the member in two ways, and clients read both.
  const bool upper = refusal.status == 404;
  Answer answer = json_answer(refusal.status,
                              ErrorBody{.reason = refusal.reason,
                                        .type = refusal.status < 500 ? "User" : "Service",
                                        .upper_message = upper ? refusal.message : "",
                                        .lower_message = upper ? "" : refusal.message});
  answer.headers.emplace_back("x-amzn-ErrorType", refusal.code);
  if (refusal.status == 429) answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

}  // namespace redrive::lambda
