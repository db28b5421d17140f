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

// The alternatives at a pattern's leaf, and the values they are compared with.

using JsonNull = std::nullptr_t;
// Integers are kept as integers: ids beyond 2^53 may be equal as doubles.
using Scalar = std::variant<JsonNull, bool, std::int64_t, std::uint64_t, double, std::string_view>;

// nullopt for objects and arrays.
std::optional<Scalar> scalar_of(simdjson::dom::element element);

using Literal = std::variant<JsonNull, bool, std::int64_t, std::uint64_t, double, std::string>;
bool equals(const Literal& literal, const Scalar& value);

enum class TextRule : std::uint8_t { prefix, suffix, whole, wildcard };

// A rule for strings; other values never match.
struct TextMatcher {
  TextRule rule = TextRule::prefix;
  bool ignore_case = false;
  std::string text;                 // Lower case if case is ignored.
  std::vector<std::string> pieces;  // For a wildcard: the texts between its stars.

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

// Matches any existing value except these.
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

// Whether an existing value matches.
bool matches(const Alternative& alternative, const Scalar& value);

}  // namespace redrive::events
