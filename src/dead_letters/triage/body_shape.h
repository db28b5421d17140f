#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redrive::triage {

enum class BodyKind : std::uint8_t {
  empty,
  json_object,
  json_array,
  json_other,  // A string, number, true, false or null by itself.
  xml,
  base64,
  text,
  large,  // Too large to be parsed.
};
inline constexpr std::size_t kBodyKinds = 8;

// "a JSON object", "plain text": completes a sentence with "is".
std::string_view describe(BodyKind kind);

// For bodies that are not JSON.
BodyKind kind_of_text(std::string_view body);

// The structure of a body, independent of its values.
struct BodyShape {
  std::string text;     // Key names and types to depth 2, sorted; equal for similar bodies.
  std::string summary;  // Human-readable: "JSON object {item, qty}".
};

BodyShape shape_of(std::string_view body);

}  // namespace redrive::triage
