#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/digest.h"

namespace redrive {

// A SHA-256 in progress, with its first blocks already hashed.
struct Sha256Begun {
  std::array<std::uint32_t, 8> state = {0x6a09e667,
                                        0xbb67ae85,
                                        0x3c6ef372,
                                        0xa54ff53a,
                                        0x510e527f,
                                        0x9b05688c,
                                        0x1f83d9ab,
                                        0x5be0cd19};
  std::size_t bytes = 0;  // Bytes hashed so far; whole blocks.
};

// Hashes as many whole blocks as both texts have into `first` and `second`, which must be new.
//
// The SHA instructions form a dependency chain, so two interleaved digests take hardly longer than
// one. On a CPU without them this hashes nothing.
void sha256_begin_both(std::string_view first_text, Sha256Begun& first,
                       std::string_view second_text, Sha256Begun& second);

// The digest of `text`, which must start with the bytes hashed into `begun`.
Sha256 sha256_end(const Sha256Begun& begun, std::string_view text);

}  // namespace redrive
