#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redrive::cli {

// Reformats JSON with line breaks and two-space indents; nullopt if `text` is not a JSON object or
// array. Numbers and strings are unchanged.
std::optional<std::string> pretty_json(std::string_view text);

}  // namespace redrive::cli
