#include "dead_letters/triage/json_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <tuple>

#include "base/text.h"
#include "dead_letters/triage/characters.h"

namespace redrive::triage {
namespace {

bool is_json_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Scans a text value by value, keeping only the stack of open brackets.
class JsonChecker {
 public:
  JsonChecker(std::string_view text, std::size_t depth_max) : text_(text), depth_max_(depth_max) {}

  Result<JsonExtent> run() {
    skip_blanks();
    const std::size_t begin = at_;
    do RETURN_IF_ERROR(step());
    while (!open_.empty());
    const JsonExtent extent{.bytes = at_ - begin, .depth = depth_};
    skip_blanks();
    if (at_ < text_.size()) return expected("the end");
    return extent;
  }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (next() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_blanks() { at_ = skip_json_blanks(text_, at_); }

  std::unexpected<Error> expected(std::string_view what) const {
    return fail(ErrorCode::invalid_parameter_value,
                fmt::format("At position {}: expected {}.", at_ + 1, what));
  }

  // One value with the brackets and commas after it, or an opening bracket.
  Result<void> step() {
    skip_blanks();
    if (take('{')) return enter('}');
    if (take('[')) return enter(']');
    RETURN_IF_ERROR(scalar());
    return close();
  }

  Result<void> enter(char end) {
    if (open_.size() == depth_max_) {
      return fail(ErrorCode::invalid_parameter_value,
                  fmt::format("The document is more than {} levels deep.", depth_max_));
    }
    open_ += end;
    depth_ = std::max(depth_, open_.size());
    skip_blanks();
    if (take(end)) {
      open_.pop_back();
      return close();
    }
    return end == '}' ? key() : Result<void>();
  }

  // After a value: all brackets that close here, then a comma if one is still open.
  Result<void> close() {
    for (; !open_.empty(); open_.pop_back()) {
      skip_blanks();
      if (take(',')) return open_.back() == '}' ? key() : Result<void>();
      if (!take(open_.back())) return expected(open_.back() == '}' ? "`,` or `}`" : "`,` or `]`");
    }
    return {};
  }

  Result<void> key() {
    skip_blanks();
    if (next() != '"') return expected("a key in quotes");
    RETURN_IF_ERROR(string());
    skip_blanks();
    if (!take(':')) return expected("`:`");
    return {};
  }

  Result<void> scalar() {
    if (next() == '"') return string();
    if (next() == '-' || is_digit(next())) return number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return {};
    }
    return expected("a value");
  }

  Result<void> string() {
    const std::size_t begin = at_++;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return expected("an escape");
      if (text_[at_] == '\\') RETURN_IF_ERROR(escape());
    }
    if (at_ == text_.size()) return expected("a closing quote");
    ++at_;
    if (is_utf8(text_.substr(begin, at_ - begin))) return {};
    at_ = begin;
    return expected("UTF-8");
  }

  Result<void> escape() {
    ++at_;
    if (next() != 'u') {
      const bool known = std::string_view("\"\\/bfnrt").find(next()) != std::string_view::npos;
      return known ? Result<void>() : expected("one of \"\\/bfnrtu");
    }
    for (int i = 0; i < 4; ++i) {
      ++at_;
      if (!is_hex(next())) return expected("a hexadecimal digit");
    }
    return {};
  }

  Result<void> number() {
    take('-');
    const std::size_t begin = at_;
    RETURN_IF_ERROR(digits());
    if (text_[begin] == '0' && at_ - begin > 1) return at_ = begin + 1, expected("no more digits");
    if (take('.')) RETURN_IF_ERROR(digits());
    if (!take('e') && !take('E')) return {};
    if (!take('+')) take('-');
    return digits();
  }

  Result<void> digits() {
    const std::size_t count = run_of_digits();
    if (count == 0) return expected("a digit");
    at_ += count;
    return {};
  }
  std::size_t run_of_digits() const { return triage::run(text_, at_, is_digit); }

  std::string_view text_;
  std::size_t depth_max_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::string open_;  // Closing brackets expected, innermost last.
};

std::size_t json_string_end(std::string_view text, std::size_t at) {
  for (++at; text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

void append_code_point(std::string& out, std::uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6)), tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0);
  }
}

std::uint32_t four_hex_digits(std::string_view text, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value * 16 + static_cast<std::uint32_t>(hex_digit(text[at + i]));
  }
  return value;
}

// After \u: one code point, from two escapes if they are a surrogate pair. An unpaired surrogate is
// kept, so that it equals itself.
std::uint32_t read_code_point(std::string_view text, std::size_t& at) {
  const std::uint32_t high = four_hex_digits(text, at);
  at += 4;
  if (high < 0xd800 || high > 0xdbff || text.substr(at, 2) != "\\u") return high;
  const std::uint32_t low = four_hex_digits(text, at + 2);
  if (low < 0xdc00 || low > 0xdfff) return high;
  at += 6;
  return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

// A number as the digits d of 0.d × 10^exponent, without leading or trailing zeros.
struct JsonDecimal {
  bool negative = false;
  std::string digits;
  std::int64_t exponent = 0;

  bool operator==(const JsonDecimal&) const = default;
};

// Larger exponents are not distinguished.
constexpr std::int64_t kExponentMax = 1'000'000'000'000;

std::int64_t read_exponent(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::int64_t value =
      std::min(parse_int<std::int64_t>(text).value_or(kExponentMax), kExponentMax);
  return negative ? -value : value;
}

JsonDecimal decimal_of(std::string_view text) {
  JsonDecimal out{.negative = text.starts_with('-')};
  if (out.negative) text.remove_prefix(1);
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  out.digits = std::string(mantissa.substr(0, point));
  if (point < mantissa.size()) out.digits += mantissa.substr(point + 1);
  const std::size_t zeros = std::min(out.digits.find_first_not_of('0'), out.digits.size());
  out.digits.erase(0, zeros);
  out.digits.erase(out.digits.find_last_not_of('0') + 1);
  if (out.digits.empty()) return {};
  out.exponent = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(zeros);
  if (e < text.size()) out.exponent += read_exponent(text.substr(e + 1));
  return out;
}

}  // namespace

Result<JsonExtent> check_json(std::string_view text, std::size_t depth_max) {
  return JsonChecker(text, depth_max).run();
}

std::size_t skip_json_blanks(std::string_view text, std::size_t at) {
  return at + run(text, at, is_json_blank);
}

JsonExtent extent_of_json(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  std::size_t open = 0;
  std::size_t deepest = 0;
  do {
    const char c = text[at];
    if (c == '"') {
      at = json_string_end(text, at);
      continue;
    }
    if (c == '{' || c == '[') deepest = std::max(deepest, ++open);
    if (c == '}' || c == ']') --open;
    ++at;
    // A word or a number ends at the next delimiter.
    if (open == 0 && c != '}' && c != ']') {
      at = std::min(text.find_first_of(",]} \t\n\r", at), text.size());
    }
  } while (open > 0);
  return {.bytes = at - begin, .depth = deepest};
}

std::string unescape_json(std::string_view quoted) {
  assert(quoted.size() >= 2);
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    const char kind = text[at + 1];
    at += 2;
    constexpr std::string_view kNames = "bfnrt";
    constexpr std::string_view kMeanings = "\b\f\n\r\t";
    if (kind == 'u') {
      append_code_point(out, read_code_point(text, at));
    } else if (const std::size_t known = kNames.find(kind); known != std::string_view::npos) {
      out += kMeanings[known];
    } else {
      out += kind;
    }
  }
  return out;
}

std::string escape_json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", c);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

bool same_json_number(std::string_view a, std::string_view b) {
  return a == b || decimal_of(a) == decimal_of(b);
}

}  // namespace redrive::triage
