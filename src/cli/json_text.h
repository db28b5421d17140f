#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redrive::cli {

// The same JSON with line breaks and two-space indents, or nothing if `text` is not a JSON object
// or array. Numbers and strings stay exactly as they were written.
std::optional<std::string> pretty_json(std::string_view text);

}  // namespace redrive::cli
