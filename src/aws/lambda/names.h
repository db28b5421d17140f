#pragma once

#include <string>
#include <string_view>

#include "aws/lambda/answer.h"
#include "functions/definitions/versions.h"

namespace redrive::lambda {

using functions::kLatest;

// A function as a request names it.
struct CalledFunction {
  functions::FunctionId id;
  std::string qualifier;  // A version or an alias; empty: none was given.

  // With the qualifier, if there is one.
  std::string arn() const { return qualifier.empty() ? id.arn() : id.arn() + ":" + qualifier; }
  bool is_latest() const { return qualifier.empty() || qualifier == kLatest; }
};

// Defaults for a name without account and region.
struct Home {
  std::string account;
  std::string region;
};

// `name`, `account:function:name` or a whole ARN, each with or without `:qualifier`.
Outcome<CalledFunction> parse_function_name(std::string_view text, const Home& home);

// Letters, digits, `-` and `_`.
bool is_function_name(std::string_view text);

}  // namespace redrive::lambda
