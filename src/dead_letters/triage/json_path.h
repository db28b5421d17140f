#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace redrive::triage {

class JsonDocument;

// A value found in a JSON document; its text lives as long as the document.
struct JsonValue {
  enum class Type : std::uint8_t { object, array, string, integer, real, boolean, null };

  Type type = Type::null;
  std::string_view text;     // For a string.
  std::int64_t integer = 0;  // For an integer.
  double real = 0;           // For either kind of number.
  bool boolean = false;
};

// A subset of JSONPath: $.order.items[0].sku, $['a b'], $.items[*].sku. `$` is the whole document.
class JsonPath {
 public:
  static constexpr std::size_t kStepsMax = 16;

  struct Step {
    enum class Kind : std::uint8_t { key, index, each };

    Kind kind = Kind::key;
    std::string key;
    std::size_t index = 0;

    friend bool operator==(const Step&, const Step&) = default;
  };

  // All of `text` must be the path. Errors name the position, from 1.
  static Result<JsonPath> parse(std::string_view text);

  // Parses a path at `at` and advances past it. The path ends where no step follows.
  static Result<JsonPath> parse_prefix(std::string_view text, std::size_t& at);

  const std::vector<Step>& steps() const { return steps_; }

  // The values at the path: one or none, several with [*]. Takes time proportional to the part of
  // the document on the path.
  std::vector<JsonValue> find(const JsonDocument& document) const;

  friend bool operator==(const JsonPath&, const JsonPath&) = default;

 private:
  std::vector<Step> steps_;
};

}  // namespace redrive::triage
