#include "dead_letters/triage/quoted.h"

#include <fmt/format.h>

#include <cassert>

namespace redrive::triage {
namespace {

char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

}  // namespace

Result<std::string> read_quoted(std::string_view text, std::size_t& at) {
  assert(at < text.size());
  const std::size_t begin = at;
  const char quote = text[at++];
  std::string out;
  for (; at < text.size() && text[at] != quote; ++at) {
    const bool escape = text[at] == '\\' && at + 1 < text.size();
    out += escape ? unescaped(text[++at]) : text[at];
  }
  if (at >= text.size()) {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("At position {}: the quote is not closed.", begin + 1));
  }
  ++at;
  return out;
}

}  // namespace redrive::triage
