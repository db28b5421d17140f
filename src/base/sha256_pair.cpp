#include "base/sha256_pair.h"

// As in digest.cpp: avoids EVP's lookup and allocation.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/sha.h>

#include <algorithm>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define SHA_NI __attribute__((target("sha,sse4.1"), always_inline)) inline
#endif

namespace redrive {
namespace {

constexpr std::size_t kShaBlockBytes = 64;

#if defined(__x86_64__)

// FIPS 180-4: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr std::array<std::uint32_t, 64> kShaRoots = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// One digest in progress: its eight state words in the order the instructions need, and the message
// words still needed.
struct ShaLane {
  __m128i abef;
  __m128i cdgh;
  __m128i words[4];
};

SHA_NI ShaLane lane_of(const std::array<std::uint32_t, 8>& state) {
  const auto* const from = reinterpret_cast<const __m128i*>(state.data());
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(from), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(from + 1), 0x1b);
  ShaLane lane;
  lane.abef = _mm_alignr_epi8(cdab, efgh, 8);
  lane.cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  return lane;
}

SHA_NI void store_state(const ShaLane& lane, std::array<std::uint32_t, 8>& state) {
  const __m128i feba = _mm_shuffle_epi32(lane.abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(lane.cdgh, 0xb1);
  auto* const to = reinterpret_cast<__m128i*>(state.data());
  _mm_storeu_si128(to, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(to + 1, _mm_alignr_epi8(dchg, feba, 8));
}

// Rounds 4 * group to 4 * group + 3.
template <std::size_t group>
SHA_NI void take_rounds(ShaLane& lane, const char* block) {
  __m128i& now = lane.words[group % 4];
  if constexpr (group < 4) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const auto* const from = reinterpret_cast<const __m128i*>(block) + group;
    now = _mm_shuffle_epi8(_mm_loadu_si128(from), swap);
  } else {
    const __m128i& last = lane.words[(group + 3) % 4];
    const __m128i crossing = _mm_alignr_epi8(last, lane.words[(group + 2) % 4], 4);
    const __m128i begun = _mm_sha256msg1_epu32(now, lane.words[(group + 1) % 4]);
    now = _mm_sha256msg2_epu32(_mm_add_epi32(begun, crossing), last);
  }
  const auto* const roots = reinterpret_cast<const __m128i*>(kShaRoots.data()) + group;
  const __m128i sum = _mm_add_epi32(now, _mm_load_si128(roots));
  lane.cdgh = _mm_sha256rnds2_epu32(lane.cdgh, lane.abef, sum);
  lane.abef = _mm_sha256rnds2_epu32(lane.abef, lane.cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

template <std::size_t... groups>
SHA_NI void take_both(ShaLane& a, const char* block_a, ShaLane& b, const char* block_b,
                      std::index_sequence<groups...>) {
  const ShaLane before_a = a;
  const ShaLane before_b = b;
  ((take_rounds<groups>(a, block_a), take_rounds<groups>(b, block_b)), ...);
  a.abef = _mm_add_epi32(a.abef, before_a.abef);
  a.cdgh = _mm_add_epi32(a.cdgh, before_a.cdgh);
  b.abef = _mm_add_epi32(b.abef, before_b.abef);
  b.cdgh = _mm_add_epi32(b.cdgh, before_b.cdgh);
}

__attribute__((target("sha,sse4.1"))) void take_blocks(const char* first_block, Sha256Begun& first,
                                                       const char* second_block,
                                                       Sha256Begun& second, std::size_t blocks) {
  ShaLane a = lane_of(first.state);
  ShaLane b = lane_of(second.state);
  for (std::size_t i = 0; i < blocks; ++i) {
    take_both(a, first_block, b, second_block, std::make_index_sequence<16>());
    first_block += kShaBlockBytes;
    second_block += kShaBlockBytes;
  }
  store_state(a, first.state);
  store_state(b, second.state);
}

bool has_sha_instructions() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (ebx & bit_SHA) != 0 && __builtin_cpu_supports("sse4.1");
}

#endif

}  // namespace

void sha256_begin_both([[maybe_unused]] std::string_view first_text,
                       [[maybe_unused]] Sha256Begun& first,
                       [[maybe_unused]] std::string_view second_text,
                       [[maybe_unused]] Sha256Begun& second) {
#if defined(__x86_64__)
  static const bool able = has_sha_instructions();
  if (!able) return;
  const std::size_t blocks = std::min(first_text.size(), second_text.size()) / kShaBlockBytes;
  take_blocks(first_text.data(), first, second_text.data(), second, blocks);
  first.bytes = second.bytes = blocks * kShaBlockBytes;
#endif
}

Sha256 sha256_end(const Sha256Begun& begun, std::string_view text) {
  SHA256_CTX context;
  SHA256_Init(&context);
  std::ranges::copy(begun.state, context.h);
  const std::uint64_t bits = std::uint64_t{begun.bytes} * 8;
  context.Nl = static_cast<SHA_LONG>(bits);
  context.Nh = static_cast<SHA_LONG>(bits >> 32);
  SHA256_Update(&context, text.data() + begun.bytes, text.size() - begun.bytes);
  Sha256 out;
  SHA256_Final(out.data(), &context);
  return out;
}

}  // namespace redrive
