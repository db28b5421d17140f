#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "dead_letter/json_path.h"

namespace redrive::dead_letter {

struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// Where in a JSON document the values are that the paths lead to; none when the text is no JSON. Of
// members with the same name all are meant. In order, and none inside another. Takes time in
// proportion to the text for each path.
std::vector<ByteRange> find_json_values(std::string_view text, std::span<const JsonPath> paths);

}  // namespace redrive::dead_letter
