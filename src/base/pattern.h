#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redrive {

// Whether `pattern` describes all of `text`: `*` stands for any run of characters, `?` for one.
//
// Linear in the text whatever the pattern: literal runs between stars are found by a two-way
// search, runs with `?` by a bit-parallel one (a 64th of the run's length per byte of text).
bool wildcard_match(std::string_view pattern, std::string_view text);

// As text.find(part), in linear time: std::string_view::find compares |part| bytes at every
// position of a text that repeats the part's beginning.
std::size_t find_text(std::string_view text, std::string_view part);

// ASCII letters only.
std::string to_lower(std::string_view text);

}  // namespace redrive
