#pragma once

#include <simdjson.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace redrive::events {

// The alternatives at a leaf of a pattern, and the values they are put to.

using JsonNull = std::nullptr_t;
// Whole numbers stay whole: ids beyond 2^53 differ when their doubles do not.
using Scalar = std::variant<JsonNull, bool, std::int64_t, std::uint64_t, double, std::string_view>;

// Nothing for objects and arrays.
std::optional<Scalar> scalar_of(simdjson::dom::element element);

using Literal = std::variant<JsonNull, bool, std::int64_t, std::uint64_t, double, std::string>;
bool equals(const Literal& literal, const Scalar& value);

enum class TextRule : std::uint8_t { prefix, suffix, whole, wildcard };

// A rule about strings; no other value obeys it.
struct TextMatcher {
  TextRule rule = TextRule::prefix;
  bool ignore_case = false;
  std::string text;                 // Folded when case is ignored.
  std::vector<std::string> pieces;  // Of a wildcard: what stands between its stars.

  bool matches(const Scalar& value) const;
};

struct NumericMatcher {
  struct Bound {
    double value = 0;
    bool inclusive = false;
  };
  std::optional<Bound> lower;
  std::optional<Bound> upper;

  bool matches(const Scalar& value) const;
};

struct CidrMatcher {
  std::array<std::uint8_t, 16> network{};
  std::uint8_t address_bytes = 4;
  std::uint8_t prefix_bits = 0;

  static std::optional<CidrMatcher> parse(std::string_view text);
  bool matches(const Scalar& value) const;
};

// Any value that is there and is none of these.
struct AnythingBut {
  std::vector<Literal> literals;
  std::vector<TextMatcher> texts;

  bool matches(const Scalar& value) const;
};

struct Exists {
  bool wanted = true;
};

using Alternative =
    std::variant<Literal, TextMatcher, NumericMatcher, CidrMatcher, AnythingBut, Exists>;

// Whether a value that is there fits.
bool matches(const Alternative& alternative, const Scalar& value);

}  // namespace redrive::events
