#include "dead_letter/secrets.h"

#include <algorithm>
#include <array>

#include "base/pattern.h"
#include "dead_letter/characters.h"

// One pass, and the same for JSON, for JSON inside a JSON string, for JSON that was cut off, for
// forms, headers and log lines: a name, a sign that its value follows, and the value.

namespace redrive::dead_letter {
namespace {

constexpr std::string_view kMask = "***";

constexpr auto kSecretParts = std::to_array<std::string_view>({
    "password",      "passwd",     "passphrase",     "passcode",         "secret",
    "authorization", "apikey",     "accesskey",      "privatekey",       "signingkey",
    "cookie",        "credential", "sessionid",      "cardnumber",       "cardno",
    "creditcard",    "cvv",        "socialsecurity", "connectionstring",
});
constexpr auto kSecretWhole = std::to_array<std::string_view>({
    "pwd",
    "pass",
    "pin",
    "auth",
    "cvc",
    "ssn",
    "ssnno",
    "jwt",
    "bearer",
    "pan",
    "otp",
});

// Keys that say by their first letters what they are.
struct Prefix {
  std::string_view text;
  std::size_t more_min;  // Letters, digits, _ and - that follow.
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

bool in_token(char c) {
  return is_word(c) || c == '-';
}
bool in_base64(char c) {
  return in_token(c) || c == '.' || c == '+' || c == '/' || c == '=';
}

std::size_t match_prefixed(std::string_view text) {
  for (const Prefix& prefix : kPrefixes) {
    if (!text.starts_with(prefix.text)) continue;
    const std::size_t more = run(text, prefix.text.size(), in_token);
    if (more >= prefix.more_min) return prefix.text.size() + more;
  }
  return 0;
}

std::size_t match_jwt(std::string_view text) {
  if (!text.starts_with("eyJ")) return 0;
  const std::size_t header = run(text, 0, in_token);
  if (header < 10 || header >= text.size() || text[header] != '.') return 0;
  const std::size_t payload = run(text, header + 1, in_token);
  if (payload < 4) return 0;
  return run(text, 0, [](char c) { return in_token(c) || c == '.'; });
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

// Bearer and Basic, as in headers: the word stays, what follows goes.
std::size_t match_scheme(std::string_view text) {
  for (const std::string_view scheme : {"Bearer ", "bearer ", "Basic ", "basic "}) {
    if (text.starts_with(scheme))
      return run(text, scheme.size(), in_base64) >= 8 ? scheme.size() : 0;
  }
  return 0;
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

// 13 to 19 digits, in groups or not.
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

class Masker {
 public:
  Masker(std::string_view text, std::size_t bytes_max) : text_(text), bytes_max_(bytes_max) {}

  std::string run_all() {
    while (at_ < text_.size() && out_.size() <= bytes_max_) step();
    return cut(out_, bytes_max_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  void copy(std::size_t size) {
    out_ += text_.substr(at_, size);
    at_ += size;
  }
  void mask(std::size_t size) {
    out_ += kMask;
    at_ += size;
  }

  void step() {
    const char c = text_[at_];
    if (c == '-' && rest().starts_with("-----BEGIN ")) {
      const std::size_t size = match_private_key(rest());
      return size > 0 ? mask(size) : copy(1);
    }
    if (c == ':' && rest().starts_with("://")) return url_password();
    if (!is_word(c)) return copy(1);
    word();
  }

  // Here a word begins.
  void word() {
    for (const auto match : {match_prefixed, match_jwt, match_card}) {
      if (const std::size_t size = match(rest())) return mask(size);
    }
    if (const std::size_t scheme = match_scheme(rest())) {
      copy(scheme);
      return mask(run(text_, at_, in_base64));
    }
    const std::size_t size = run(text_, at_, in_token);
    const std::string_view name = text_.substr(at_, size);
    copy(size);
    if (is_secret_name(name)) value_of(name);
  }

  // Passes `": "`, `=`, `: ` and their like, then masks what they announce.
  void value_of(std::string_view name) {
    std::size_t sign = at_;
    while (sign < text_.size() &&
           (text_[sign] == '\\' || text_[sign] == '"' || text_[sign] == '\'')) {
      ++sign;
    }
    sign += run(text_, sign, is_space);
    if (sign >= text_.size() || (text_[sign] != ':' && text_[sign] != '=')) return;
    if (text_.substr(sign).starts_with("://")) return;
    std::size_t begin = sign + 1;
    begin += run(text_, begin, [](char c) { return c == ' ' || c == '\t' || c == '>'; });
    copy(begin - at_);
    mask_value(name);
  }

  void mask_value(std::string_view name) {
    if (at_ >= text_.size()) return;
    if (text_[at_] == '{' || text_[at_] == '[') return mask(nested());
    if (std::string_view("\"'\\").find(text_[at_]) != std::string_view::npos) return quoted();
    const std::string lower = to_lower(name);
    const bool whole_line = lower.ends_with("authorization") || lower.ends_with("cookie");
    const std::string_view ends = whole_line ? "\r\n" : " \t\r\n,;&}])\"'\\";
    const std::size_t size =
        run(text_, at_, [&](char c) { return ends.find(c) == std::string_view::npos; });
    const std::string_view value = text_.substr(at_, size);
    if (size == 0 || value == "null" || value == "true" || value == "false") return copy(size);
    mask(size);
  }

  // A quoted value, whose quote may itself be escaped.
  void quoted() {
    const std::size_t slashes = run(text_, at_, [](char c) { return c == '\\'; });
    if (at_ + slashes >= text_.size()) return copy(slashes);
    const char quote = text_[at_ + slashes];
    if (quote != '"' && quote != '\'') return mask(slashes);
    copy(slashes + 1);
    const std::string_view end = text_.substr(at_ - slashes - 1, slashes + 1);
    std::size_t size = 0;
    if (slashes > 0) {
      size = std::min(find_text(rest(), end), rest().size());
    } else {
      for (; size < rest().size() && rest()[size] != quote; ++size) {
        if (rest()[size] == '\\' && size + 1 < rest().size()) ++size;
      }
    }
    if (size > 0) mask(size);
  }

  // The size of an object or array, quotes heeded; all of the rest if it does not end.
  std::size_t nested() const {
    int depth = 0;
    bool in_string = false;
    for (std::size_t at = at_; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '\\') ++at;
      if (c == '"') in_string = !in_string;
      if (in_string) continue;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return at + 1 - at_;
    }
    return text_.size() - at_;
  }

  // postgres://user:password@host
  void url_password() {
    copy(3);
    const auto in_authority = [](char c) {
      return !is_space(c) && c != '/' && c != '"' && c != '\'';
    };
    const std::string_view authority = text_.substr(at_, run(text_, at_, in_authority));
    const std::size_t host = authority.rfind('@');
    const std::size_t colon = authority.find(':');
    if (host == std::string_view::npos || colon == std::string_view::npos || colon > host) return;
    copy(colon + 1);
    mask(host - colon - 1);
  }

  std::string_view text_;
  std::size_t bytes_max_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

bool is_secret_name(std::string_view name) {
  constexpr std::size_t kNameBytesMax = 64;
  std::string plain;
  for (const char c : name.substr(0, kNameBytesMax)) {
    if (is_letter(c)) plain += static_cast<char>(c | 0x20);
  }
  const auto is_part = [&](std::string_view part) {
    return plain.find(part) != std::string_view::npos;
  };
  return std::ranges::any_of(kSecretParts, is_part) ||
         std::ranges::find(kSecretWhole, plain) != kSecretWhole.end() || plain.ends_with("token");
}

std::string mask_secrets(std::string_view text, const MaskOptions& options) {
  return Masker(text, options.bytes_max).run_all();
}

}  // namespace redrive::dead_letter
