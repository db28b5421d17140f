#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace redrive::dead_letter {

class JsonDocument;

// A value found in a JSON document; a text lives as long as the document.
struct JsonValue {
  enum class Type : std::uint8_t { object, array, string, integer, real, boolean, null };

  Type type = Type::null;
  std::string_view text;     // Of a string.
  std::int64_t integer = 0;  // Of an integer.
  double real = 0;           // Of either number.
  bool boolean = false;
};

// A small JSONPath: $.order.items[0].sku, $['a b'], $.items[*].sku. `$` is the whole document.
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

  // All of `text` is the path. The message of a failure names the position, from 1.
  static Result<JsonPath> parse(std::string_view text);

  // Reads a path that begins at `at`, which is moved behind it. A path ends where no step follows.
  static Result<JsonPath> parse_prefix(std::string_view text, std::size_t& at);

  const std::vector<Step>& steps() const { return steps_; }

  // What the path leads to: one value or none, several with [*]. Takes time in proportion to the
  // part of the document it leads through.
  std::vector<JsonValue> find(const JsonDocument& document) const;

  friend bool operator==(const JsonPath&, const JsonPath&) = default;

 private:
  std::vector<Step> steps_;
};

}  // namespace redrive::dead_letter
