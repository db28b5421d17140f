#pragma once

#include <array>
#include <bit>
#include <cstdint>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Finds the end of a run of allowed bytes: the parser's inner loops.
//
// The SIMD scans load whole vectors and so read up to 15 bytes past `end`, which Buffer's padding
// permits. Matches past `end` are never reported.
namespace redrive::http {

namespace detail {

constexpr std::array<bool, 256> make_token_table() {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (const char c :
       {'!', '#', '$', '%', '&', '\'', '*', '+', '-', '.', '^', '_', '`', '|', '~'}) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}
inline constexpr std::array<bool, 256> kTokenTable = make_token_table();

}  // namespace detail

// RFC 9110 section 5.6.2: characters of methods and header names.
inline bool is_token_char(char c) {
  return detail::kTokenTable[static_cast<unsigned char>(c)];
}

// Ends the fast scan of a header value: a control character other than tab, which is not allowed,
// or a non-ASCII byte, which is (see skip_value).
inline bool is_value_stop(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte >= 0x7f;
}

// A byte that is not allowed in a request target.
inline bool is_target_stop(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte >= 0x7f || c == '#';
}

#ifdef __SSE2__

// Accepts letters, digits and '-', which make up nearly all names.
inline int name_stops(__m128i bytes) {
  const auto within = [](__m128i values, char first, char last) {
    return _mm_and_si128(_mm_cmpgt_epi8(values, _mm_set1_epi8(static_cast<char>(first - 1))),
                         _mm_cmplt_epi8(values, _mm_set1_epi8(static_cast<char>(last + 1))));
  };
  const __m128i letter = within(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z');
  const __m128i digit = within(bytes, '0', '9');
  const __m128i dash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('-'));
  return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(letter, digit), dash)) ^ 0xffff;
}

inline int value_stops(__m128i bytes) {
  // Compared as signed, bytes from 0x80 are also below the space.
  const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '));
  const __m128i tab = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t'));
  const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
  return _mm_movemask_epi8(_mm_or_si128(_mm_andnot_si128(tab, low), del));
}

inline int target_stops(__m128i bytes) {
  // Compared as signed, bytes from 0x80 are also below '!'.
  const __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8('!'));
  const __m128i del = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f));
  const __m128i hash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('#'));
  return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, del), hash));
}

template <int (*Stops)(__m128i)>
const char* find_stop(const char* p, const char* end) {
  for (; p < end; p += 16) {
    const int stops = Stops(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    if (stops == 0) continue;
    const char* const found = p + std::countr_zero(static_cast<unsigned>(stops));
    return found < end ? found : end;
  }
  return end;
}

inline const char* skip_token(const char* p, const char* end) {
  p = find_stop<name_stops>(p, end);
  while (p < end && is_token_char(*p)) ++p;
  return p;
}
inline const char* find_value_stop(const char* p, const char* end) {
  return find_stop<value_stops>(p, end);
}
inline const char* find_target_stop(const char* p, const char* end) {
  return find_stop<target_stops>(p, end);
}

#else

inline const char* skip_token(const char* p, const char* end) {
  while (p < end && is_token_char(*p)) ++p;
  return p;
}
inline const char* find_value_stop(const char* p, const char* end) {
  while (p < end && !is_value_stop(*p)) ++p;
  return p;
}
inline const char* find_target_stop(const char* p, const char* end) {
  while (p < end && !is_target_stop(*p)) ++p;
  return p;
}

#endif

// The end of a header value: the first control character. Sets `ascii` to false if a non-ASCII byte
// precedes it.
inline const char* skip_value(const char* p, const char* end, bool& ascii) {
  p = find_value_stop(p, end);
  while (p < end && static_cast<unsigned char>(*p) >= 0x80) {
    ascii = false;
    p = find_value_stop(p + 1, end);
  }
  return p;
}

}  // namespace redrive::http
