#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/digest.h"

namespace redrive {

inline constexpr std::size_t kMd5Lanes = 16;

// Whether this CPU can run md5_lanes (AVX2).
bool has_md5_lanes();

// The MD5 of up to kMd5Lanes texts at once, each in its own lane of the vector registers.
//
// MD5 is one long dependency chain that leaves most of a core idle; sixteen digests in parallel
// take hardly longer than the longest one alone.
void md5_lanes(std::span<const std::string_view> texts, std::span<Md5> out);

}  // namespace redrive
