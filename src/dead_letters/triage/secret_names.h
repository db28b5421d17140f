#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redrive::triage {

// Whether a key of this name holds a secret: password, api_key, Token and so on, in any case and
// with any separators. Escapes as in JSON strings (pass\u0077ord) and homoglyphs (pаssword with a
// Cyrillic а) are recognised.
bool is_secret_name(std::string_view name);

// The lower-case ASCII letters that a name displays; other characters are dropped.
std::string fold_name(std::string_view name);

// The size of the escape \uXXXX at `at`, whose backslash may itself be escaped any number of times
// (up to kEscapeDepthMax); 0 if there is none.
inline constexpr std::size_t kEscapeDepthMax = 64;
std::size_t unicode_escape(std::string_view text, std::size_t at);

}  // namespace redrive::triage
