#include "dead_letters/triage/text_pattern.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "dead_letters/triage/characters.h"

namespace redrive::triage {
namespace {

constexpr std::size_t kPatternBytesRead = 1024;

// Three numbers with the same separator: year first or year last.
bool looks_like_date(std::string_view text) {
  std::array<std::size_t, 3> sizes{};
  char separator = 0;
  std::size_t at = 0;
  for (std::size_t part = 0; part < sizes.size(); ++part) {
    sizes[part] = run(text, at, is_digit);
    at += sizes[part];
    if (part == 2) break;
    if (at == text.size() || std::string_view("-/.").find(text[at]) == std::string_view::npos) {
      return false;
    }
    if (part == 1 && text[at] != separator) return false;
    separator = text[at++];
  }
  const auto is_day = [](std::size_t size) { return size == 1 || size == 2; };
  const bool year_first = sizes[0] == 4 && is_day(sizes[1]) && is_day(sizes[2]);
  const bool year_last =
      is_day(sizes[0]) && is_day(sizes[1]) && (sizes[2] == 4 || sizes[2] == 2) && separator != '-';
  if (!year_first && !year_last) return false;
  if (at == text.size()) return true;
  // A time of day: "T10:00", " 10:00:00.000Z".
  if (text[at] != 'T' && text[at] != ' ') return false;
  const std::string_view time = text.substr(at + 1);
  return time.size() >= 4 && is_digit(time[0]) && time.find(':') <= 2;
}

bool looks_like_number(std::string_view text) {
  if (text.empty() || !(is_digit(text.front()) || text.front() == '-' || text.front() == '.')) {
    return false;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool looks_like_uuid(std::string_view text) {
  constexpr std::size_t kUuidBytes = 36;
  if (text.size() != kUuidBytes) return false;
  for (std::size_t i = 0; i < kUuidBytes; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

bool looks_like_email(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == 0 || at == std::string_view::npos || text.find('@', at + 1) != std::string_view::npos) {
    return false;
  }
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || dot < at + 2 || dot + 1 == text.size()) return false;
  return std::ranges::none_of(text, is_space);
}

bool looks_like_url(std::string_view text) {
  return text.starts_with("https://") || text.starts_with("http://");
}

}  // namespace

std::uint8_t patterns_of(std::string_view text) {
  text = text.substr(0, kPatternBytesRead);
  unsigned bits = 0;
  const auto set = [&](TextPattern pattern, bool holds) {
    if (holds) bits |= 1u << static_cast<unsigned>(pattern);
  };
  set(TextPattern::empty, text.empty());
  set(TextPattern::padded, !text.empty() && (is_space(text.front()) || is_space(text.back())));
  set(TextPattern::date, looks_like_date(text));
  set(TextPattern::number, looks_like_number(text));
  set(TextPattern::uuid, looks_like_uuid(text));
  set(TextPattern::email, looks_like_email(text));
  set(TextPattern::url, looks_like_url(text));
  set(TextPattern::non_ascii,
      std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }));
  return static_cast<std::uint8_t>(bits);
}

std::string_view describe(TextPattern pattern, bool holds) {
  struct Words {
    std::string_view holds;
    std::string_view fails;
  };
  constexpr std::array<Words, kTextPatterns> kWords = {{
      {"that is empty", "that is not empty"},
      {"that begins or ends with a blank", "that has no blanks at its ends"},
      {"that looks like a date", "that does not look like a date"},
      {"that looks like a number", "that does not look like a number"},
      {"that looks like a UUID", "that does not look like a UUID"},
      {"that looks like an e-mail address", "that does not look like an e-mail address"},
      {"that looks like a URL", "that does not look like a URL"},
      {"that has characters beyond ASCII", "that is all ASCII"},
  }};
  const Words& words = kWords[static_cast<std::size_t>(pattern)];
  return holds ? words.holds : words.fails;
}

std::uint16_t length_of(std::string_view text) {
  const auto characters = static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  return static_cast<std::uint16_t>(std::min(characters, kMost));
}

}  // namespace redrive::triage
