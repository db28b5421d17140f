#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

// JSON as text: validated and scanned, but otherwise unchanged. simdjson would convert values,
// which loses the digits of long numbers.

namespace redrive::triage {

// Size of a value without surrounding blanks, and its nesting depth.
struct JsonExtent {
  std::size_t bytes = 0;
  std::size_t depth = 0;  // 0 for a scalar.
};

// Validates `text` as one JSON value (RFC 8259) in UTF-8 of at most this depth. Errors name the
// position, from 1. Not recursive.
Result<JsonExtent> check_json(std::string_view text, std::size_t depth_max);

// The following require text accepted by check_json.

// The end of the blanks at `at`.
std::size_t skip_json_blanks(std::string_view text, std::size_t at);
// The extent of the value at `at`.
JsonExtent extent_of_json(std::string_view text, std::size_t at);
// The content of a quoted string.
std::string unescape_json(std::string_view quoted);
// The inverse.
std::string escape_json(std::string_view text);
// 100, 1e2 and 100.0 are the same number, with any number of digits.
bool same_json_number(std::string_view a, std::string_view b);

}  // namespace redrive::triage
