#include "aws/s3/byte_range.h"

#include <algorithm>

#include "base/text.h"

namespace redrive::s3 {
namespace {

RangeChoice part(std::uint64_t offset, std::uint64_t bytes) {
  return {.range = {offset, bytes}, .partial = true, .unsatisfiable = bytes == 0};
}

}  // namespace

RangeChoice choose_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  const RangeChoice whole{.range = {0, size}};
  if (!header.starts_with(kUnit)) return whole;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) return whole;
  const auto first = parse_int<std::uint64_t>(header.substr(0, dash));
  const auto last = parse_int<std::uint64_t>(header.substr(dash + 1));
  if (!first && dash == 0 && last) {
    const std::uint64_t bytes = std::min(*last, size);
    return part(size - bytes, bytes);
  }
  const bool open_ended = dash + 1 == header.size();
  if (!first || (!last && !open_ended) || (last && *last < *first)) return whole;
  if (*first >= size) return part(0, 0);
  const std::uint64_t end = last && *last < size ? *last + 1 : size;
  return part(*first, end - *first);
}

}  // namespace redrive::s3
