#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redrive::triage {

// Properties of a text that hint at its origin, independent of its value.
enum class TextPattern : std::uint8_t {
  empty,
  padded,  // Starts or ends with a blank.
  date,    // 2026-01-31, 31.1.2026, 1/31/26, each with or without a time of day.
  number,
  uuid,
  email,
  url,
  non_ascii,
};
inline constexpr std::size_t kTextPatterns = 8;

// A bit mask: bit n is set if the text has pattern number n. Linear in the text; only its first KiB
// is examined.
std::uint8_t patterns_of(std::string_view text);

// "that is empty", "that looks like a date"; `holds` false: "that does not look like a date".
std::string_view describe(TextPattern pattern, bool holds);

// The number of UTF-8 characters, at most 65,535.
std::uint16_t length_of(std::string_view text);

}  // namespace redrive::triage
