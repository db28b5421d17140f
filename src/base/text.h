#pragma once

#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redrive {

// The value of a hexadecimal digit in either case, or -1.
int hex_digit(char c);
// Writes 2 * size lower-case digits.
void write_hex(char* out, const std::uint8_t* bytes, std::size_t size);
std::string to_hex(std::string_view bytes);

std::string base64_encode(std::string_view bytes);
void base64_append(std::string& out, std::string_view bytes);
// Refuses anything but canonical padded base64 (RFC 4648 section 4).
std::optional<std::string> base64_decode(std::string_view text);

// Decodes %XX escapes, and `+` as a space if `plus_is_space` (form bodies). Like browsers, leaves
// invalid escapes as they are.
std::string percent_decode(std::string_view text, bool plus_is_space);
// Keeps A-Z a-z 0-9 - _ . ~, and `/` if `keep_slash`.
std::string percent_encode(std::string_view text, bool keep_slash);

// Parses a decimal number that makes up the whole text.
template <class Int>
std::optional<Int> parse_int(std::string_view text) {
  Int value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

inline char lower_ascii(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
namespace detail {

// Compares eight characters, ignoring the case of ASCII letters.
inline bool iequal_words(const char* a, const char* b) {
  std::uint64_t x;
  std::uint64_t y;
  std::memcpy(&x, a, sizeof(x));
  std::memcpy(&y, b, sizeof(y));
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  const std::uint64_t differing = x ^ y;
  if (differing == 0) return true;
  if ((differing & ~(kOnes * 0x20)) != 0) return false;
  // Where they differ there must be letters: the high bit of each byte marks a letter.
  const std::uint64_t lower = (x | kOnes * 0x20) & kOnes * 0x7f;
  const std::uint64_t letters =
      (lower + kOnes * (0x80 - 'a')) & ~(lower + kOnes * (0x7f - 'z')) & ~x;
  return (differing << 2 & ~letters) == 0;
}

}  // namespace detail

// Inline, because most comparisons of names end with the length check.
inline bool iequals(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  std::size_t at = 0;
  for (; at + 8 <= a.size(); at += 8) {
    if (!detail::iequal_words(a.data() + at, b.data() + at)) return false;
  }
  // Compare the last eight bytes, overlapping some already compared.
  if (at > 0) return detail::iequal_words(a.data() + a.size() - 8, b.data() + b.size() - 8);
  for (; at < a.size(); ++at) {
    if (a[at] != b[at] && lower_ascii(a[at]) != lower_ascii(b[at])) return false;
  }
  return true;
}
std::vector<std::string_view> split(std::string_view text, char separator);

// Whether `text` is UTF-8 with only code points allowed in a message: tab, LF, CR, U+0020..U+D7FF,
// U+E000..U+FFFD, U+10000..U+10FFFF.
bool is_message_text(std::string_view text);
bool is_utf8(std::string_view text);
bool is_ascii(std::string_view text);

// The code points allowed in an output format.
enum class Repertoire : std::uint8_t {
  unicode,  // Every Unicode scalar value, as in JSON.
  xml,      // The characters of XML 1.0; the same as those allowed in a message.
};
// `text` with U+FFFD for every byte that is not UTF-8 and every code point outside `repertoire`.
std::string replace_invalid(std::string_view text, Repertoire repertoire = Repertoire::unicode);

// The longest prefix of at most `bytes_max` bytes that does not end inside a UTF-8 character.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes_max);

}  // namespace redrive
