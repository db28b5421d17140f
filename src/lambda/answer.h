#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "http/answer.h"
#include "wire/encode.h"

namespace redrive::lambda {

using http::Answer;
inline constexpr std::string_view kJsonType = "application/json";

// Why a request is not served, as Lambda calls it.
struct Refusal {
  int status;
  std::string code;  // The x-amzn-ErrorType.
  std::string message;
  std::string reason = {};  // Of throttling.
};

template <class T>
class [[nodiscard]] Outcome : public std::expected<T, Refusal> {
 public:
  using std::expected<T, Refusal>::expected;
};

std::unexpected<Refusal> refuse(int status, std::string_view code, std::string message);
// 400 InvalidParameterValueException, what most requests are refused with.
std::unexpected<Refusal> invalid(std::string message);
// 400 ValidationException, in the words of the service in front of Lambda.
std::unexpected<Refusal> breaks_constraint(std::string_view value, std::string_view where,
                                           std::string_view constraint);
std::unexpected<Refusal> not_found(std::string message);
Refusal refusal_of(const Error& error);
Answer answer_of(const Refusal& refusal);

// Yields what another room gives, or its error in Lambda's words.
template <class T, class Other>
Outcome<T> told(Other&& outcome) {
  if (!outcome) return std::unexpected(refusal_of(outcome.error()));
  if constexpr (!std::is_void_v<T>) return *std::forward<Other>(outcome);
  return {};
}

template <class T>
Answer json_answer(int status, const T& document) {
  Answer answer{.status = status, .content_type = std::string(kJsonType)};
  wire::encode_json(answer.body, document);
  return answer;
}
inline Answer empty_answer(int status) {
  return {.status = status};
}

}  // namespace redrive::lambda
