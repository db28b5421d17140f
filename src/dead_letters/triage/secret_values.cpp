#include "dead_letters/triage/secret_values.h"

#include <algorithm>
#include <array>
#include <string>

#include "dead_letters/triage/characters.h"

namespace redrive::triage {
namespace {

// Keys with a recognisable prefix.
struct Prefix {
  std::string_view text;
  std::size_t more_min;  // Minimum number of letters, digits, _ and - that follow.
};
constexpr auto kPrefixes = std::to_array<Prefix>({
    {"AKIA", 16},
    {"ASIA", 16},
    {"ghp_", 30},
    {"gho_", 30},
    {"ghs_", 30},
    {"github_pat_", 30},
    {"glpat-", 20},
    {"xoxb-", 20},
    {"xoxp-", 20},
    {"sk_live_", 16},
    {"sk_test_", 16},
    {"rk_live_", 16},
    {"AIza", 35},
});

bool in_key_token(char c) {
  return is_word(c) || c == '-';
}
bool is_card_issuer(std::string_view digits) {
  const auto number = [&](std::size_t size) {
    int value = 0;
    for (const char c : digits.substr(0, size)) value = value * 10 + (c - '0');
    return value;
  };
  const std::size_t size = digits.size();
  const int two = number(2);
  const int four = number(4);
  if (digits[0] == '4') return size == 13 || size == 16 || size == 19;
  if ((two >= 51 && two <= 55) || (four >= 2221 && four <= 2720)) return size == 16;
  if (two == 34 || two == 37) return size == 15;
  if (two == 36 || two == 38 || two == 30) return size == 14;
  return (two == 35 || two == 62 || two == 65 || four == 6011) && size >= 16;
}

bool passes_luhn(std::string_view digits) {
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    int value = digits[digits.size() - 1 - i] - '0';
    if (i % 2 == 1) value = value * 2 > 9 ? value * 2 - 9 : value * 2;
    sum += value;
  }
  return sum % 10 == 0;
}

// Countries of the IBAN registry and the lengths of their numbers.
struct IbanCountry {
  std::string_view code;
  std::size_t size;
};
// clang-format off
constexpr auto kIbanCountries = std::to_array<IbanCountry>({
    {"AD", 24}, {"AE", 23}, {"AL", 28}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16}, {"BG", 22},
    {"BH", 22}, {"BI", 27}, {"BR", 29}, {"BY", 28}, {"CH", 21}, {"CR", 22}, {"CY", 28}, {"CZ", 24},
    {"DE", 22}, {"DJ", 27}, {"DK", 18}, {"DO", 28}, {"EE", 20}, {"EG", 29}, {"ES", 24}, {"FI", 18},
    {"FK", 18}, {"FO", 18}, {"FR", 27}, {"GB", 22}, {"GE", 22}, {"GI", 23}, {"GL", 18}, {"GR", 27},
    {"GT", 28}, {"HR", 21}, {"HU", 28}, {"IE", 22}, {"IL", 23}, {"IQ", 23}, {"IS", 26}, {"IT", 27},
    {"JO", 30}, {"KW", 30}, {"KZ", 20}, {"LB", 28}, {"LC", 32}, {"LI", 21}, {"LT", 20}, {"LU", 20},
    {"LV", 21}, {"LY", 25}, {"MC", 27}, {"MD", 24}, {"ME", 22}, {"MK", 19}, {"MN", 20}, {"MR", 27},
    {"MT", 31}, {"MU", 30}, {"NI", 28}, {"NL", 18}, {"NO", 15}, {"OM", 23}, {"PK", 24}, {"PL", 28},
    {"PS", 29}, {"PT", 25}, {"QA", 29}, {"RO", 24}, {"RS", 22}, {"RU", 33}, {"SA", 24}, {"SC", 31},
    {"SD", 18}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"SO", 23}, {"ST", 25}, {"SV", 28},
    {"TL", 23}, {"TN", 24}, {"TR", 26}, {"UA", 29}, {"VA", 22}, {"VG", 24}, {"XK", 20}, {"YE", 30},
});
// clang-format on

char upper(char c) {
  return is_lower(c) ? static_cast<char>(c - 32) : c;
}

// The IBAN with its first four characters moved to the end and letters as 10 to 35, modulo 97.
int iban_remainder(std::string_view iban) {
  int remainder = 0;
  for (std::size_t i = 0; i < iban.size(); ++i) {
    const char c = iban[(i + 4) % iban.size()];
    remainder =
        is_digit(c) ? (remainder * 10 + (c - '0')) % 97 : (remainder * 100 + (c - 'A' + 10)) % 97;
  }
  return remainder;
}

std::size_t iban_size(std::string_view code) {
  const auto found = std::ranges::find(kIbanCountries, code, &IbanCountry::code);
  return found == kIbanCountries.end() ? 0 : found->size;
}

}  // namespace

std::size_t match_prefixed_key(std::string_view text) {
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    const std::size_t more = run(text, prefix.text.size(), in_key_token);
    if (more >= prefix.more_min) return prefix.text.size() + more;
  }
  return 0;
}

std::size_t match_jwt(std::string_view text) {
  if (!text.starts_with("eyJ")) return 0;
  const std::size_t header = run(text, 0, in_key_token);
  if (header < 10 || header >= text.size() || text[header] != '.') return 0;
  const std::size_t payload = run(text, header + 1, in_key_token);
  if (payload < 4) return 0;
  return run(text, 0, [](char c) { return in_key_token(c) || c == '.'; });
}

std::size_t match_private_key(std::string_view text) {
  if (!text.starts_with("-----BEGIN ")) return 0;
  const std::size_t title = text.substr(0, 64).find("PRIVATE KEY");
  if (title == std::string_view::npos) return 0;
  const std::size_t end = text.find("-----END ", title);
  if (end == std::string_view::npos) return text.size();
  const std::size_t dashes = text.find("-----", end + 9);
  return dashes == std::string_view::npos ? text.size() : dashes + 5;
}

std::size_t match_scheme(std::string_view text) {
  for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic ", "basic "}) {
    if (text.starts_with(scheme))
      return run(text, scheme.size(), in_base64_token) >= 8 ? scheme.size() : 0;
  }
  return 0;
}

// 13 to 19 digits, grouped or not.
std::size_t match_card(std::string_view text) {
  std::string digits;
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size() && digits.size() <= 19; ++at) {
    if (is_digit(text[at])) {
      digits += text[at];
      end = at + 1;
    } else if ((text[at] != ' ' && text[at] != '-') || at != end) {
      break;
    }
  }
  const bool alone = end >= text.size() || !is_word(text[end]);
  if (digits.size() < 13 || digits.size() > 19 || !alone) return 0;
  return is_card_issuer(digits) && passes_luhn(digits) ? end : 0;
}

bool in_base64_token(char c) {
  return in_key_token(c) || c == '.' || c == '+' || c == '/' || c == '=';
}

// Contiguous, or in groups separated by single spaces.
std::size_t match_iban(std::string_view text) {
  if (text.size() < 15 || !is_letter(text[0]) || !is_letter(text[1]) || !is_digit(text[2]))
    return 0;
  const std::array<char, 2> code = {upper(text[0]), upper(text[1])};
  const std::size_t size = iban_size({code.data(), code.size()});
  std::string iban;
  std::size_t at = 0;
  for (; at < text.size() && iban.size() < size; ++at) {
    if (is_letter(text[at]) || is_digit(text[at])) {
      iban += upper(text[at]);
    } else if (text[at] != ' ' || text[at - 1] == ' ') {
      return 0;
    }
  }
  const bool alone = at >= text.size() || !is_word(text[at]);
  const bool whole = size > 0 && iban.size() == size && is_digit(iban[3]) && alone;
  return whole && iban_remainder(iban) == 1 ? at : 0;
}

std::size_t match_access_key_id(std::string_view text) {
  if (!text.starts_with("AKIA") && !text.starts_with("ASIA")) return 0;
  const std::size_t more = run(text, 4, [](char c) { return is_upper(c) || is_digit(c); });
  return more >= 16 ? 4 + more : 0;
}

std::size_t match_secret_access_key(std::string_view text) {
  constexpr std::size_t kSize = 40;
  if (run(text.substr(0, kSize + 1), 0, in_secret_access_key) != kSize) return 0;
  const std::string_view key = text.substr(0, kSize);
  // Hexadecimal digests have the same length, but letters of one case.
  const bool mixed = std::ranges::any_of(key, is_lower) && std::ranges::any_of(key, is_upper);
  return mixed ? kSize : 0;
}

}  // namespace redrive::triage
