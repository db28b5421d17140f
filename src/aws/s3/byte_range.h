#pragma once

#include <cstdint>
#include <string_view>

namespace redrive::s3 {

struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  bool operator==(const ByteRange&) const = default;
};

struct RangeChoice {
  ByteRange range;
  bool partial = false;
  bool unsatisfiable = false;
};

// What part of an object of `size` bytes a Range header asks for: `bytes=0-9`, `bytes=5-`,
// `bytes=-3`. A header that asks for several parts or is not understood counts as absent, as RFC
// 9110 allows.
RangeChoice choose_range(std::string_view header, std::uint64_t size);

}  // namespace redrive::s3
