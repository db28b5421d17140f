#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redrive::dead_letter {

// Properties of a text that say something about how it was made, whatever its value.
enum class TextPattern : std::uint8_t {
  empty,
  padded,  // Begins or ends with a blank.
  date,    // 2026-01-31, 31.1.2026, 1/31/26, each with or without a time of day.
  number,
  uuid,
  email,
  url,
  non_ascii,
};
inline constexpr std::size_t kTextPatterns = 8;

// One bit for each pattern that the text has: bit n for the pattern with number n. Linear in the
// text; only its first KiB is looked at.
std::uint8_t patterns_of(std::string_view text);

// "that is empty", "that looks like a date"; `holds` false: "that does not look like a date".
std::string_view describe(TextPattern pattern, bool holds);

// The number of UTF-8 characters, at most 65,535.
std::uint16_t length_of(std::string_view text);

}  // namespace redrive::dead_letter
