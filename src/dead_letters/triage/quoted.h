#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace redrive::triage {

// Reads a text in single or double quotes at `at` and advances past it. \n, \r and \t are as in
// JSON; a backslash before any other character quotes it.
Result<std::string> read_quoted(std::string_view text, std::size_t& at);

}  // namespace redrive::triage
