#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>
#include <cstddef>

// Finding the next byte that needs care, sixteen at a time: most of a message body needs none.

namespace redrive::wire {

// The bytes a scan stops at: those named, and with kControls every byte below 0x20.
template <bool kControls, char... kNamed>
struct StopBytes {
  static bool holds(char c) {
    return ((c == kNamed) || ...) || (kControls && static_cast<unsigned char>(c) < 0x20);
  }

#if defined(__SSE2__)
  static __m128i found(__m128i bytes) {
    __m128i found = _mm_setzero_si128();
    ((found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(kNamed)))), ...);
    if constexpr (kControls) {
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

using JsonStringEnds = StopBytes<false, '"', '\\'>;
using JsonEscapes = StopBytes<true, '"', '\\'>;
using XmlEscapes = StopBytes<true, '&', '<', '>', '"'>;
using FormEscapes = StopBytes<false, '%', '+'>;

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
