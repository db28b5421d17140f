#include "base/md5_lanes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <utility>

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2"), always_inline)) inline

namespace redrive {
namespace {

constexpr std::size_t kGroupLanes = 8;  // 32-bit words per register.
constexpr std::size_t kBlockBytes = 64;
constexpr std::size_t kSteps = 64;

// RFC 1321: floor(2^32 × |sin(i + 1)|).
constexpr std::array<std::uint32_t, kSteps> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr int kTurns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
constexpr std::array<std::uint32_t, 4> kStart = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};

// One text: whole blocks are read in place, the last one or two are padded here.
struct Lane {
  std::string_view text;
  std::size_t blocks = 0;
  alignas(32) std::array<char, 2 * kBlockBytes> end;

  void set(std::string_view the_text) {
    text = the_text;
    const std::size_t rest = text.size() % kBlockBytes;
    const std::size_t end_bytes = rest < 56 ? kBlockBytes : 2 * kBlockBytes;
    blocks = (text.size() - rest + end_bytes) / kBlockBytes;
    end.fill(0);
    if (rest > 0) std::memcpy(end.data(), text.data() + text.size() - rest, rest);
    end[rest] = static_cast<char>(0x80);
    const std::uint64_t bits = std::uint64_t{text.size()} * 8;
    std::memcpy(end.data() + end_bytes - 8, &bits, 8);
  }

  // Past the last block any bytes will do.
  const char* block(std::size_t index) const {
    const std::size_t whole = text.size() / kBlockBytes;
    if (index < whole) return text.data() + index * kBlockBytes;
    return end.data() + (index == whole ? 0 : kBlockBytes);
  }
};

struct State {
  __m256i a, b, c, d;
};

template <std::size_t step>
AVX2 __m256i mix(__m256i b, __m256i c, __m256i d) {
  if constexpr (step < 16) {
    return _mm256_xor_si256(d, _mm256_and_si256(b, _mm256_xor_si256(c, d)));
  } else if constexpr (step < 32) {
    return _mm256_xor_si256(c, _mm256_and_si256(d, _mm256_xor_si256(b, c)));
  } else if constexpr (step < 48) {
    return _mm256_xor_si256(b, _mm256_xor_si256(c, d));
  } else {
    const __m256i not_d = _mm256_xor_si256(d, _mm256_set1_epi32(-1));
    return _mm256_xor_si256(c, _mm256_or_si256(b, not_d));
  }
}

template <std::size_t step>
constexpr std::size_t word_of() {
  constexpr std::size_t kFactor[] = {1, 5, 3, 7};
  constexpr std::size_t kOffset[] = {0, 1, 5, 0};
  return (step * kFactor[step / 16] + kOffset[step / 16]) % 16;
}

template <std::size_t step>
AVX2 void take_step(State& s, const __m256i (&words)[16]) {
  constexpr int kTurn = kTurns[step / 16][step % 4];
  const __m256i added = _mm256_add_epi32(
      _mm256_add_epi32(s.a, mix<step>(s.b, s.c, s.d)),
      _mm256_add_epi32(words[word_of<step>()], _mm256_set1_epi32(static_cast<int>(kSines[step]))));
  const __m256i turned =
      _mm256_or_si256(_mm256_slli_epi32(added, kTurn), _mm256_srli_epi32(added, 32 - kTurn));
  s = {s.d, _mm256_add_epi32(s.b, turned), s.b, s.c};
}

using Words = __m256i[16];

// Interleaves the steps of all groups: while one waits for its result, the core works on the other.
// The states are separate variables so that they stay in registers.
template <std::size_t... steps>
AVX2 void take_steps(State& s, const Words& words, std::index_sequence<steps...>) {
  State local = s;
  (take_step<steps>(local, words), ...);
  s = local;
}
template <std::size_t... steps>
AVX2 void take_steps(State& s0, State& s1, const Words& words0, const Words& words1,
                     std::index_sequence<steps...>) {
  State local0 = s0;
  State local1 = s1;
  ((take_step<steps>(local0, words0), take_step<steps>(local1, words1)), ...);
  s0 = local0;
  s1 = local1;
}

// Rows are lanes, 32 bytes of each; columns become words of all lanes. Unrolled so that everything
// stays in registers.
AVX2 void transpose(const char* const (&rows)[kGroupLanes], std::size_t offset, __m256i* out) {
  __m256i r[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    r[i] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(rows[i] + offset));
  }
  __m256i t[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = _mm256_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
  }
  __m256i u[8];
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    u[4 * i] = _mm256_unpacklo_epi64(t[4 * i], t[4 * i + 2]);
    u[4 * i + 1] = _mm256_unpackhi_epi64(t[4 * i], t[4 * i + 2]);
    u[4 * i + 2] = _mm256_unpacklo_epi64(t[4 * i + 1], t[4 * i + 3]);
    u[4 * i + 3] = _mm256_unpackhi_epi64(t[4 * i + 1], t[4 * i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    out[i] = _mm256_permute2x128_si256(u[i], u[i + 4], 0x20);
    out[i + 4] = _mm256_permute2x128_si256(u[i], u[i + 4], 0x31);
  }
}

template <std::size_t groups>
AVX2 void take_block(State (&s)[groups], const char* const (&rows)[groups][kGroupLanes]) {
  Words words[groups];
  State before[groups];
  for (std::size_t g = 0; g < groups; ++g) {
    transpose(rows[g], 0, words[g]);
    transpose(rows[g], 32, words[g] + 8);
    before[g] = s[g];
  }
  constexpr auto kAll = std::make_index_sequence<kSteps>();
  if constexpr (groups == 1) {
    take_steps(s[0], words[0], kAll);
  } else {
    take_steps(s[0], s[1], words[0], words[1], kAll);
  }
  for (std::size_t g = 0; g < groups; ++g) {
    s[g].a = _mm256_add_epi32(s[g].a, before[g].a);
    s[g].b = _mm256_add_epi32(s[g].b, before[g].b);
    s[g].c = _mm256_add_epi32(s[g].c, before[g].c);
    s[g].d = _mm256_add_epi32(s[g].d, before[g].d);
  }
}

AVX2 Md5 digest_in_lane(const State& s, std::size_t lane) {
  alignas(32) std::uint32_t words[4][8];
  const __m256i* parts[] = {&s.a, &s.b, &s.c, &s.d};
  Md5 out;
  for (std::size_t i = 0; i < 4; ++i) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(words[i]), *parts[i]);
    std::memcpy(out.data() + 4 * i, &words[i][lane], 4);
  }
  return out;
}

template <std::size_t groups>
__attribute__((target("avx2"))) void run_lanes(std::span<const Lane> lanes, std::span<Md5> out) {
  State s[groups];
  for (State& group : s) {
    group = {_mm256_set1_epi32(static_cast<int>(kStart[0])),
             _mm256_set1_epi32(static_cast<int>(kStart[1])),
             _mm256_set1_epi32(static_cast<int>(kStart[2])),
             _mm256_set1_epi32(static_cast<int>(kStart[3]))};
  }
  std::size_t blocks = 0;
  std::size_t common = SIZE_MAX;  // Blocks that every lane can read in place.
  for (const Lane& lane : lanes) {
    blocks = std::max(blocks, lane.blocks);
    common = std::min(common, lane.text.size() / kBlockBytes);
  }
  const char* rows[groups][kGroupLanes];
  const auto find_rows = [&](std::size_t index) {
    for (std::size_t i = 0; i < groups * kGroupLanes; ++i) {
      rows[i / kGroupLanes][i % kGroupLanes] = lanes[i < lanes.size() ? i : 0].block(index);
    }
  };
  if (common > 0) find_rows(0);
  for (std::size_t index = 0; index < common; ++index) {
    take_block(s, rows);
    for (auto& group : rows) {
      for (const char*& row : group) row += kBlockBytes;
    }
  }
  for (std::size_t index = common; index < blocks; ++index) {
    find_rows(index);
    take_block(s, rows);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (lanes[i].blocks == index + 1) {
        out[i] = digest_in_lane(s[i / kGroupLanes], i % kGroupLanes);
      }
    }
  }
}

}  // namespace

bool has_md5_lanes() {
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  return avx2;
}

void md5_lanes(std::span<const std::string_view> texts, std::span<Md5> out) {
  assert(texts.size() <= kMd5Lanes && texts.size() == out.size() && has_md5_lanes());
  std::array<Lane, kMd5Lanes> lanes;
  for (std::size_t i = 0; i < texts.size(); ++i) lanes[i].set(texts[i]);
  const auto used = std::span<const Lane>(lanes).first(texts.size());
  used.size() > kGroupLanes ? run_lanes<2>(used, out) : run_lanes<1>(used, out);
}

}  // namespace redrive

#else

namespace redrive {

bool has_md5_lanes() {
  return false;
}

void md5_lanes(std::span<const std::string_view>, std::span<Md5>) {
  assert(false);
}

}  // namespace redrive

#endif
