#include "aws/lambda/names.h"

#include <algorithm>

#include "base/account.h"
#include "base/result.h"
#include "base/text.h"

namespace redrive::lambda {
namespace {

constexpr std::size_t kFunctionNameMax = 64;
constexpr std::size_t kFunctionTextMax = 256;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

bool is_qualifier(std::string_view text) {
  return text == kLatest || functions::is_code_qualifier(text) ||
         (!text.empty() && text.size() <= 128 && std::ranges::all_of(text, is_word_character));
}

std::unexpected<Refusal> no_function_name(std::string_view text) {
  return breaks_constraint(
      text,
      "functionName",
      "satisfy regular expression pattern: "
      "(arn:(aws[a-zA-Z-]*)?:lambda:)?([a-z]{2}(-gov)?-[a-z]+-\\d{1}:)?(\\d{12}:)?(function:)?"
      "([a-zA-Z0-9-_]+)(:(\\$LATEST|[a-zA-Z0-9-_]+))?");
}

}  // namespace

bool is_function_name(std::string_view text) {
  return !text.empty() && text.size() <= kFunctionNameMax &&
         std::ranges::all_of(text, is_word_character);
}

Outcome<CalledFunction> parse_function_name(std::string_view text, const Home& home) {
  if (text.size() > kFunctionTextMax) return no_function_name(text.substr(0, kFunctionTextMax));
  CalledFunction called{.id = {home.account, home.region, ""}, .qualifier = {}};
  auto parts = split(text, ':');
  if (parts.size() >= 7 && parts[0] == "arn" && parts[2] == "lambda") {
    called.id.region = parts[3];
    called.id.account = parts[4];
    parts.erase(parts.begin(), parts.begin() + 5);
  } else if (parts.size() >= 3 && is_account(parts[0])) {
    called.id.account = parts[0];
    parts.erase(parts.begin());
  }
  if (parts.size() >= 2 && parts[0] == "function") parts.erase(parts.begin());
  if (parts.size() > 2 || !is_function_name(parts[0])) return no_function_name(text);
  called.id.name = parts[0];
  if (parts.size() == 2) {
    if (!is_qualifier(parts[1])) return no_function_name(text);
    called.qualifier = parts[1];
  }
  if (!is_account(called.id.account) || called.id.region.empty()) return no_function_name(text);
  return called;
}

}  // namespace redrive::lambda
