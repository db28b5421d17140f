#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/net/http/parse_pieces.h"

// Property: bytes parsed at once and the same bytes split anywhere give the same requests and the
// same refusal, and no body exceeds the limit. The first byte of the input chooses the split;
// limits are small so that short inputs reach them.
namespace {

using redrive::http::Limits;
using redrive::http::ParsedRequest;
using redrive::http::ParseOutcome;

constexpr Limits kLimits{
    .target_bytes_max = 64, .head_bytes_max = 512, .headers_max = 8, .body_bytes_max = 256};

// Pieces of 1 to 64 bytes, from a small generator.
std::vector<std::string_view> cut(std::string_view bytes, std::uint32_t seed) {
  std::vector<std::string_view> pieces;
  while (!bytes.empty()) {
    seed = seed * 1664525u + 1013904223u;
    const std::string_view piece = bytes.substr(0, 1 + (seed >> 26));
    pieces.push_back(piece);
    bytes.remove_prefix(piece.size());
  }
  return pieces;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ParseOutcome whole = redrive::http::parse_pieces({bytes}, kLimits);
  require(redrive::http::parse_pieces(cut(bytes, data[0]), kLimits) == whole);
  require(redrive::http::parse_pieces(cut(bytes, data[0] + 1000u), kLimits) == whole);
  for (const ParsedRequest& request : whole.requests) {
    require(request.body.size() <= kLimits.body_bytes_max);
    require(request.headers.size() <= kLimits.headers_max);
    require(!request.method.empty() && !request.path.empty());
  }
  return 0;
}
