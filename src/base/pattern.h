#pragma once

#include <string>
#include <string_view>

namespace redrive {

// Whether `pattern` describes all of `text`: `*` stands for any run of characters, `?` for one.
bool wildcard_match(std::string_view pattern, std::string_view text);

// ASCII letters only.
std::string to_lower(std::string_view text);

}  // namespace redrive
