#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

// JSON as text: found to be valid, stepped over, and otherwise left as it stands. simdjson gives
// values, and has none for a number of thirty digits; here a number is its digits.

namespace redrive::dead_letter {

// How far a value reaches: its bytes without blanks around it, and how deep its brackets go.
struct JsonExtent {
  std::size_t bytes = 0;
  std::size_t depth = 0;  // A scalar has none.
};

// The whole of `text` as one value of RFC 8259, in UTF-8, at most `depth_max` deep. The message of
// a failure names the position, from 1. Uses no stack in proportion to the text.
Result<JsonExtent> check_json(std::string_view text, std::size_t depth_max);

// What follows is for text that check_json took.

// Where the blanks from `at` on end.
std::size_t skip_json_blanks(std::string_view text, std::size_t at);
// Where the value that begins at `at` ends.
JsonExtent extent_of_json(std::string_view text, std::size_t at);
// What a string in its quotes says.
std::string unescape_json(std::string_view quoted);
// The other way round.
std::string escape_json(std::string_view text);
// 100, 1e2 and 100.0 are the same number, however many digits it has.
bool same_json_number(std::string_view a, std::string_view b);

}  // namespace redrive::dead_letter
