#pragma once

#include <charconv>
#include <cstdint>
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

// %XX escapes; `plus_is_space` as in form bodies. A broken escape stays as it stands, as browsers
// do.
std::string percent_decode(std::string_view text, bool plus_is_space);
// Leaves A-Z a-z 0-9 - _ . ~ alone, and `/` when asked.
std::string percent_encode(std::string_view text, bool keep_slash);

// A whole decimal number, nothing before or after it.
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
// Inline, because most comparisons of names end at their lengths.
inline bool iequals(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && lower_ascii(a[i]) != lower_ascii(b[i])) return false;
  }
  return true;
}
std::vector<std::string_view> split(std::string_view text, char separator);

// Whether `text` is UTF-8 whose every code point a message may hold: tab, LF, CR, U+0020..U+D7FF,
// U+E000..U+FFFD, U+10000..U+10FFFF.
bool is_message_text(std::string_view text);
bool is_utf8(std::string_view text);

}  // namespace redrive
