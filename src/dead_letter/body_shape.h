#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redrive::dead_letter {

enum class BodyKind : std::uint8_t {
  empty,
  json_object,
  json_array,
  json_other,  // A string, number, true, false or null by itself.
  xml,
  base64,
  text,
  large,  // More than is looked into.
};
inline constexpr std::size_t kBodyKinds = 8;

// "a JSON object", "plain text": to follow "is".
std::string_view describe(BodyKind kind);

// For what is not JSON.
BodyKind kind_of_text(std::string_view body);

// What a body is made of, whatever its values.
struct BodyShape {
  std::string text;     // Key names and types to depth 2, sorted; equal for bodies that are alike.
  std::string summary;  // For people: "JSON object {item, qty}".
};

BodyShape shape_of(std::string_view body);

}  // namespace redrive::dead_letter
