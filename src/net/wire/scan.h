#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>

// Finds the next byte that needs escaping, sixteen at a time: most of a message body needs none.

namespace redrive::wire {

// Ranges of bytes that stop a scan.
enum class StopRange {
  none,
  controls,           // Below 0x20.
  controls_and_high,  // Below 0x20 or from 0x80 on, which one signed comparison finds.
};

// The bytes that stop a scan: the named ones and those in the range.
template <StopRange kRange, char... kNamed>
struct StopBytes {
  static bool holds(char c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool control = kRange != StopRange::none && byte < 0x20;
    const bool high = kRange == StopRange::controls_and_high && byte >= 0x80;
    return ((c == kNamed) || ...) || control || high;
  }

#if defined(__SSE2__)
  static __m128i found(__m128i bytes) {
    __m128i found = _mm_setzero_si128();
    ((found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(kNamed)))), ...);
    if constexpr (kRange == StopRange::controls_and_high) {
      found = _mm_or_si128(found, _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)));
    } else if constexpr (kRange == StopRange::controls) {
      const __m128i capped = _mm_min_epu8(bytes, _mm_set1_epi8(0x1f));
      found = _mm_or_si128(found, _mm_cmpeq_epi8(capped, bytes));
    }
    return found;
  }

  // Bit i is set if byte i stops the scan.
  static unsigned mask(__m128i bytes) {
    return static_cast<unsigned>(_mm_movemask_epi8(found(bytes)));
  }
#endif
};

using JsonStringEnds = StopBytes<StopRange::none, '"', '\\'>;
using FormEscapes = StopBytes<StopRange::none, '%', '+'>;
// Encoders scan for bytes to escape and for the first non-ASCII byte; once the rest of the text is
// known to be UTF-8, only for the former.
using JsonEscapes = StopBytes<StopRange::controls, '"', '\\'>;
using JsonEscapesOrHigh = StopBytes<StopRange::controls_and_high, '"', '\\'>;
using XmlEscapes = StopBytes<StopRange::controls, '&', '<', '>', '"'>;
using XmlEscapesOrHigh = StopBytes<StopRange::controls_and_high, '&', '<', '>', '"'>;

#if defined(__SSE2__)
namespace detail {

inline __m128i load(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// Loads the 8 to 15 bytes of [at, end) into one vector: the first eight, then the last eight
// (overlapping).
inline __m128i load_short(const char* at, const char* end) {
  const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
  const __m128i last = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(end - 8));
  return _mm_unpacklo_epi64(first, last);
}

// Skips blocks of 64 bytes without a stop byte.
template <class Stop>
const char* skip_blocks(const char* at, const char* end) {
  for (; end - at >= 64; at += 64) {
    const __m128i low = _mm_or_si128(Stop::found(load(at)), Stop::found(load(at + 16)));
    const __m128i high = _mm_or_si128(Stop::found(load(at + 32)), Stop::found(load(at + 48)));
    if (_mm_movemask_epi8(_mm_or_si128(low, high)) != 0) break;
  }
  return at;
}

}  // namespace detail
#endif

// The first stop byte in [at, end), or `end`.
template <class Stop>
const char* scan_to(const char* at, const char* end) {
#if defined(__SSE2__)
  at = detail::skip_blocks<Stop>(at, end);
  for (; end - at >= 16; at += 16) {
    const unsigned mask = Stop::mask(detail::load(at));
    if (mask != 0) return at + std::countr_zero(mask);
  }
  if (end - at >= 8) {
    const unsigned mask = Stop::mask(detail::load_short(at, end));
    if (mask == 0) return end;
    const int bit = std::countr_zero(mask);
    return bit < 8 ? at + bit : end - 16 + bit;
  }
#endif
  while (at != end && !Stop::holds(*at)) ++at;
  return at;
}

}  // namespace redrive::wire
