#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>

// Finding the next byte that needs care, sixteen at a time: most of a message body needs none.

namespace redrive::wire {

// Whole ranges of bytes that a scan stops at.
enum class StopRange {
  none,
  controls,           // Below 0x20.
  controls_and_high,  // The same, and from 0x80 on: everything that is not one printable character
                      // or DEL. One comparison of signed bytes finds both.
};

// The bytes a scan stops at: those named, and those of a range.
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

  // Bit i: byte i stops the scan.
  static unsigned mask(__m128i bytes) {
    return static_cast<unsigned>(_mm_movemask_epi8(found(bytes)));
  }
#endif
};

using JsonStringEnds = StopBytes<StopRange::none, '"', '\\'>;
using FormEscapes = StopBytes<StopRange::none, '%', '+'>;
// Writers scan for the bytes to escape and for the first one beyond ASCII; once the rest of the
// text is known to be UTF-8, only for the former.
using JsonEscapes = StopBytes<StopRange::controls, '"', '\\'>;
using JsonEscapesOrHigh = StopBytes<StopRange::controls_and_high, '"', '\\'>;
using XmlEscapes = StopBytes<StopRange::controls, '&', '<', '>', '"'>;
using XmlEscapesOrHigh = StopBytes<StopRange::controls_and_high, '&', '<', '>', '"'>;

#if defined(__SSE2__)
namespace detail {

inline __m128i load(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

// Sixteen bytes that hold the 8 to 15 of [at, end): its first eight, then its last eight.
inline __m128i load_short(const char* at, const char* end) {
  const __m128i first = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
  const __m128i last = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(end - 8));
  return _mm_unpacklo_epi64(first, last);
}

// Passes blocks of 64 bytes in which nothing stops.
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

// The first byte of [at, end) that Stop holds, or `end`.
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
