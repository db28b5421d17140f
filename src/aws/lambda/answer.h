#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "front/refusal.h"
#include "net/http/answer.h"
#include "net/wire/encode.h"

namespace redrive::lambda {

using http::Answer;
inline constexpr std::string_view kJsonType = "application/json";

using front::Outcome;
using front::Refusal;
using front::refuse;

// 400 InvalidParameterValueException, the most frequent refusal.
std::unexpected<Refusal> invalid(std::string message);
// 400 ValidationException, with the text of Lambda's request validation.
std::unexpected<Refusal> breaks_constraint(std::string_view value, std::string_view where,
                                           std::string_view constraint);
std::unexpected<Refusal> not_found(std::string message);
Refusal refusal_of(const Error& error);
Answer answer_of(const Refusal& refusal);

// The value of another module's result, or its error as a refusal of Lambda.
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
