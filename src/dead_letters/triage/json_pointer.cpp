#include "dead_letters/triage/json_pointer.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.h"

namespace redrive::triage {
namespace {

Result<std::string> pointer_token(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '~') {
      out += text[at];
      continue;
    }
    const char kind = ++at < text.size() ? text[at] : '\0';
    if (kind != '0' && kind != '1') {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("In the pointer part \"{}\": ~ must be followed by 0 or 1.", text));
    }
    out += kind == '0' ? '~' : '/';
  }
  return out;
}

}  // namespace

Result<JsonPointer> JsonPointer::parse(std::string_view text) {
  JsonPointer out;
  if (text.empty()) return out;
  if (!text.starts_with('/')) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("The pointer \"{}\" does not begin with a slash.", text));
  }
  const auto parts = split(text.substr(1), '/');
  if (parts.size() > kTokensMax) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("A pointer has more than {} parts.", kTokensMax));
  }
  for (const std::string_view part : parts) out.tokens_.push_back(TRY(pointer_token(part)));
  return out;
}

bool JsonPointer::is_above(const JsonPointer& other) const {
  return tokens_.size() < other.tokens_.size() &&
         std::ranges::equal(tokens_, std::span(other.tokens_).first(tokens_.size()));
}

std::string json_pointer_text(const JsonPointer& pointer, std::size_t tokens) {
  std::string out;
  for (std::size_t i = 0; i < tokens; ++i) {
    out += '/';
    for (const char c : pointer.tokens()[i]) {
      if (c == '~') out += "~0";
      if (c == '/') out += "~1";
      if (c != '~' && c != '/') out += c;
    }
  }
  return out;
}

}  // namespace redrive::triage
