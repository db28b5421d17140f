#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redrive {

// Whether `pattern` matches all of `text`: `*` matches any run of characters, `?` any one.
//
// Linear in the text for any pattern: literal runs between stars are found with a two-way search,
// runs with `?` with a bit-parallel one (a 64th of the run's length per byte of text).
bool wildcard_match(std::string_view pattern, std::string_view text);

// Like text.find(part), but in linear time: std::string_view::find compares |part| bytes at every
// position of a text that repeats the part's prefix.
std::size_t find_text(std::string_view text, std::string_view part);

// ASCII letters only.
std::string to_lower(std::string_view text);

}  // namespace redrive
