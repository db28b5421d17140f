#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "dead_letters/triage/json_path.h"

namespace redrive::triage {

struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// The ranges of the values at the paths; empty if the text is not JSON. All duplicates of a member
// are included. Sorted, and none inside another. Time is proportional to the text for each path.
std::vector<ByteRange> find_json_values(std::string_view text, std::span<const JsonPath> paths);

}  // namespace redrive::triage
