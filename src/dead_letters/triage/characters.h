#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// ASCII only, independent of the locale.

namespace redrive::triage {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_letter(char c) {
  return is_lower(c) || is_upper(c);
}
constexpr bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
constexpr bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
constexpr bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// How many bytes from `at` on satisfy `holds`.
template <class Holds>
constexpr std::size_t run(std::string_view text, std::size_t at, Holds holds) {
  std::size_t end = at;
  while (end < text.size() && holds(text[end])) ++end;
  return end - at;
}

constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// At most `bytes_max` bytes, not ending inside a UTF-8 character; a cut text ends with `…`, which
// counts.
inline std::string cut(std::string_view text, std::size_t bytes_max) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max < kEllipsis.size() ? 0 : bytes_max - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  std::string out(text.substr(0, end));
  if (bytes_max >= kEllipsis.size()) out += kEllipsis;
  return out;
}

}  // namespace redrive::triage
