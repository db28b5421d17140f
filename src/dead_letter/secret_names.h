#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redrive::dead_letter {

// Whether a key of this name holds something that must not be shown: password, api_key, Token and
// their like, in any case and with any separators. Escapes as in JSON strings (pass\u0077ord) and
// letters that look like Latin ones (pаssword with a Cyrillic а) count as what they show.
bool is_secret_name(std::string_view name);

// The lower-case ASCII letters that a name shows; what resembles no letter is left out.
std::string fold_name(std::string_view name);

// The size of the escape \uXXXX at `at`, whose backslash may itself be escaped any number of times
// (up to kEscapeDepthMax); 0 when there is none.
inline constexpr std::size_t kEscapeDepthMax = 64;
std::size_t unicode_escape(std::string_view text, std::size_t at);

}  // namespace redrive::dead_letter
