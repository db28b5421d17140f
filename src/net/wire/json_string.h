#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "net/wire/arena.h"

namespace redrive::wire {

enum class LoneSurrogates { refuse, keep };

inline constexpr std::size_t kReadAhead = 16;

// Decodes a JSON string whose first byte after the opening quote is `at`; the closing quote is
// before `end`, after which kReadAhead bytes are readable. Without escapes the result is a view of
// the input, otherwise it is in `arena`. nullopt if an escape is invalid. An unpaired surrogate, if
// kept, becomes the three bytes of its code point, which are not UTF-8.
std::optional<std::string_view> read_json_string(Arena& arena, const char* at, const char* end,
                                                 LoneSurrogates lone);

}  // namespace redrive::wire
