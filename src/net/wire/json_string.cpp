#include "net/wire/json_string.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/text.h"
#include "net/wire/scan.h"

namespace redrive::wire {
namespace {

constexpr bool is_high_surrogate(std::uint32_t unit) {
  return unit >= 0xd800 && unit <= 0xdbff;
}
constexpr bool is_low_surrogate(std::uint32_t unit) {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

char* write_utf8(char* out, std::uint32_t code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    *out++ = static_cast<char>(code);
  } else if (code < 0x800) {
    *out++ = static_cast<char>(0xc0 | (code >> 6));
    *out++ = tail(0);
  } else if (code < 0x10000) {
    *out++ = static_cast<char>(0xe0 | (code >> 12));
    *out++ = tail(6);
    *out++ = tail(0);
  } else {
    *out++ = static_cast<char>(0xf0 | (code >> 18));
    *out++ = tail(12);
    *out++ = tail(6);
    *out++ = tail(0);
  }
  return out;
}

// Copies a string from after its opening quote to its closing one, which is before `end`, resolving
// escapes. Reads and writes up to kReadAhead bytes past the end.
class Unescaper {
 public:
  Unescaper(const char* at, const char* end, char* out, LoneSurrogates lone)
      : at_(at), end_(end), out_(out), lone_(lone) {}

  // Returns the end of the output, or null if an escape is invalid.
  char* run() {
    while (at_ < end_) {
      copy_plain();
      if (at_ >= end_) break;
      if (*at_ == '"') return out_;
      if (!escape()) return nullptr;
    }
    return nullptr;
  }

 private:
  // Copies up to the next quote or backslash, or to the end.
  void copy_plain() {
#if defined(__SSE2__)
    while (at_ < end_) {
      const __m128i bytes = detail::load(at_);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out_), bytes);
      const unsigned mask = JsonStringEnds::mask(bytes);
      const int plain = mask == 0 ? 16 : std::countr_zero(mask);
      at_ += plain;
      out_ += plain;
      if (mask != 0) return;
    }
#else
    while (at_ < end_ && !JsonStringEnds::holds(*at_)) *out_++ = *at_++;
#endif
  }

  bool escape() {
    if (end_ - at_ < 2) return false;
    const char letter = at_[1];
    at_ += 2;
    if (letter == 'u') return code_point();
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    const std::size_t found = kLetters.find(letter);
    if (found == std::string_view::npos) return false;
    *out_++ = kMeanings[found];
    return true;
  }

  // After "\u": four digits, and for a high surrogate the escape of the low one.
  bool code_point() {
    const auto first = unit();
    if (!first) return false;
    std::uint32_t code = *first;
    const bool pair_follows = end_ - at_ >= 2 && at_[0] == '\\' && at_[1] == 'u';
    if (is_high_surrogate(code) && pair_follows) {
      const char* const before = at_;
      at_ += 2;
      const auto second = unit();
      if (!second) return false;
      if (is_low_surrogate(*second)) {
        code = 0x10000 + ((code - 0xd800) << 10) + (*second - 0xdc00);
      } else {
        at_ = before;  // Not the low surrogate: an escape of its own.
      }
    }
    const bool lone = is_high_surrogate(code) || is_low_surrogate(code);
    if (lone && lone_ == LoneSurrogates::refuse) return false;
    out_ = write_utf8(out_, code);
    return true;
  }

  std::optional<std::uint32_t> unit() {
    if (end_ - at_ < 4) return std::nullopt;
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = hex_digit(*at_++);
      if (digit < 0) return std::nullopt;
      value = value << 4 | static_cast<std::uint32_t>(digit);
    }
    return value;
  }

  const char* at_;
  const char* end_;
  char* out_;
  LoneSurrogates lone_;
};

}  // namespace

std::optional<std::string_view> read_json_string(Arena& arena, const char* at, const char* end,
                                                 LoneSurrogates lone) {
  const char* const first = scan_to<JsonStringEnds>(at, end);
  if (first == end) return std::nullopt;
  if (*first == '"') return std::string_view(at, first);
  // An escape is never shorter than its result, so the rest of the body is an upper bound. As that
  // holds for every string, one block serves them all.
  char* const out = arena.reserve(static_cast<std::size_t>(end - at) + kReadAhead);
  const auto plain = static_cast<std::size_t>(first - at);
  std::memcpy(out, at, plain);
  char* const out_end = Unescaper(first, end, out + plain, lone).run();
  if (out_end == nullptr) return std::nullopt;
  arena.commit(static_cast<std::size_t>(out_end - out));
  return std::string_view(out, out_end);
}

}  // namespace redrive::wire
