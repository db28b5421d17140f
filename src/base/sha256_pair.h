#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/digest.h"

namespace redrive {

// A SHA-256 of which the first blocks may have been made.
struct Sha256Begun {
  std::array<std::uint32_t, 8> state = {0x6a09e667,
                                        0xbb67ae85,
                                        0x3c6ef372,
                                        0xa54ff53a,
                                        0x510e527f,
                                        0x9b05688c,
                                        0x1f83d9ab,
                                        0x5be0cd19};
  std::size_t bytes = 0;  // How many are in it: whole blocks.
};

// Takes as many whole blocks as both texts have into `first` and `second`, which are new.
//
// Where the processor has instructions for SHA-256, each waits for the one before it: two digests
// side by side take hardly longer than one. Where it has none, nothing is taken.
void sha256_begin_both(std::string_view first_text, Sha256Begun& first,
                       std::string_view second_text, Sha256Begun& second);

// The digest of `text`, which begins with the bytes that were taken.
Sha256 sha256_end(const Sha256Begun& begun, std::string_view text);

}  // namespace redrive
