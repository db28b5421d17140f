#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace redrive::dead_letter {

// Reads a text in single or double quotes that begins at `at`, which is moved behind it. A
// backslash makes n, r and t what they are in JSON, and stands before any other character for
// itself.
Result<std::string> read_quoted(std::string_view text, std::size_t& at);

}  // namespace redrive::dead_letter
