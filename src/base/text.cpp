#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/base64.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace redrive {
namespace {

constexpr auto kHexPairs = [] {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kDigits[i >> 4], kDigits[i & 15]};
  return pairs;
}();

#if defined(__SSE2__)
// Converts sixteen bytes at once.
void write_hex_block(char* out, const std::uint8_t* bytes) {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i nibble = _mm_set1_epi8(15);
  const auto digits = [](__m128i values) {
    const __m128i beyond_nine = _mm_cmpgt_epi8(values, _mm_set1_epi8(9));
    const __m128i letters = _mm_and_si128(beyond_nine, _mm_set1_epi8('a' - '0' - 10));
    return _mm_add_epi8(_mm_add_epi8(values, _mm_set1_epi8('0')), letters);
  };
  const __m128i high = digits(_mm_and_si128(_mm_srli_epi16(block, 4), nibble));
  const __m128i low = digits(_mm_and_si128(block, nibble));
  auto* const to = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(to, _mm_unpacklo_epi8(high, low));
  _mm_storeu_si128(to + 1, _mm_unpackhi_epi8(high, low));
}
#endif

constexpr auto kBase64Value = [] {
  std::array<std::int8_t, 256> table{};
  table.fill(-1);
  for (std::size_t i = 0; i < kBase64.size(); ++i) {
    table[static_cast<unsigned char>(kBase64[i])] = static_cast<std::int8_t>(i);
  }
  return table;
}();

// More parts than nearly any text has: counting them first would cost more than the memory.
constexpr std::size_t kUsualParts = 16;

bool is_unreserved(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

// Reads the code point at `at` and advances past it; -1 if the bytes are not valid UTF-8.
std::int32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) {
    ++at;
    return lead;
  }
  const int length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + static_cast<std::size_t>(length) > text.size()) return -1;
  std::int32_t code = lead & (0x7f >> length);
  for (int i = 1; i < length; ++i) {
    const unsigned char next = byte(at + static_cast<std::size_t>(i));
    if ((next & 0xc0) != 0x80) return -1;
    code = (code << 6) | (next & 0x3f);
  }
  constexpr std::array<std::int32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kSmallest[static_cast<std::size_t>(length)] || code > 0x10ffff || surrogate) return -1;
  at += static_cast<std::size_t>(length);
  return code;
}

// Whether XML 1.0 allows the code point. False for -1, which stands for invalid bytes.
bool is_xml_character(std::int32_t code) {
  if (code < 0x20) return code == '\t' || code == '\n' || code == '\r';
  return code != 0xfffe && code != 0xffff;
}

// How many bytes from `at` on are plain printable ASCII, sixteen or eight at a time: most bodies
// contain nothing else.
std::size_t plain_prefix(std::string_view text, std::size_t at) {
#if defined(__SSE2__)
  // Compared as signed, non-ASCII bytes are also below the space.
  const auto below_space = [&text](std::size_t from) {
    const auto* const block = reinterpret_cast<const __m128i*>(text.data() + from);
    return _mm_cmplt_epi8(_mm_loadu_si128(block), _mm_set1_epi8(' '));
  };
  for (; at + 64 <= text.size(); at += 64) {
    const __m128i low = _mm_or_si128(below_space(at), below_space(at + 16));
    const __m128i high = _mm_or_si128(below_space(at + 32), below_space(at + 48));
    if (_mm_movemask_epi8(_mm_or_si128(low, high)) != 0) break;
  }
  for (; at + 16 <= text.size(); at += 16) {
    if (_mm_movemask_epi8(below_space(at)) != 0) break;
  }
#endif
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  while (at + 8 <= text.size()) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t controls = (word - 0x2020202020202020) & ~word & kHigh;
    if ((controls | (word & kHigh)) != 0) break;
    at += 8;
  }
  return at;
}

}  // namespace

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void write_hex(char* out, const std::uint8_t* bytes, std::size_t size) {
#if defined(__SSE2__)
  for (; size >= 16; size -= 16, bytes += 16, out += 32) write_hex_block(out, bytes);
#endif
  for (std::size_t i = 0; i < size; ++i) {
    std::memcpy(out + 2 * i, kHexPairs[bytes[i]].data(), 2);
  }
}

std::string to_hex(std::string_view bytes) {
  std::string out(bytes.size() * 2, '\0');
  write_hex(out.data(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return out;
}

void base64_append(std::string& out, std::string_view bytes) {
  const std::size_t before = out.size();
  out.resize(before + (bytes.size() + 2) / 3 * 4, '=');
  base64_write(out.data() + before, bytes);
}

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  base64_append(out, bytes);
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string out(text.size() / 4 * 3, '\0');
  char* to = out.data();
  std::uint32_t group = 0;
  std::int32_t any = 0;  // Negative once a character outside the alphabet was seen.
  for (std::size_t at = 0; at < text.size(); at += 4, to += 3) {
    group = 0;
    const std::size_t digits = at + 4 < text.size() ? 4 : 4 - padding;
    for (std::size_t i = 0; i < 4; ++i) {
      const int value = i < digits ? kBase64Value[static_cast<unsigned char>(text[at + i])] : 0;
      any |= value;
      group = group << 6 | (static_cast<std::uint32_t>(value) & 63);
    }
    to[0] = static_cast<char>(group >> 16);
    to[1] = static_cast<char>(group >> 8);
    to[2] = static_cast<char>(group);
  }
  // The bits unused because of padding must be zero: the encoding is canonical.
  const std::uint32_t leftover = group & ((1u << 8 * padding) - 1);
  if (any < 0 || leftover != 0) return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

std::string percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
        hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += c == '+' && plus_is_space ? ' ' : c;
    }
  }
  return out;
}

std::string percent_encode(std::string_view text, bool keep_slash) {
  std::string out;
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slash && c == '/')) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      constexpr std::string_view kUpper = "0123456789ABCDEF";
      out += '%';
      out += kUpper[byte >> 4];
      out += kUpper[byte & 15];
    }
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  parts.reserve(kUsualParts);
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool is_message_text(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    at = plain_prefix(text, at);
    if (at == text.size()) break;
    if (!is_xml_character(next_code_point(text, at))) return false;
  }
  return true;
}

bool is_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    at = plain_prefix(text, at);
    if (at < text.size() && next_code_point(text, at) < 0) return false;
  }
  return true;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::string replace_invalid(std::string_view text, Repertoire repertoire) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t before = at;
    at = plain_prefix(text, at);
    out += text.substr(before, at - before);
    if (at == text.size()) break;
    const std::size_t begin = at;
    const std::int32_t code = next_code_point(text, at);
    const bool allowed = repertoire == Repertoire::xml ? is_xml_character(code) : code >= 0;
    if (code < 0) ++at;
    out += allowed ? text.substr(begin, at - begin) : kReplacement;
  }
  return out;
}

std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace redrive
