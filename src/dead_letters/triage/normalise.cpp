#include "dead_letters/triage/normalise.h"

#include <algorithm>
#include <optional>

#include "dead_letters/triage/characters.h"

// One pass over the text. At each token start, matchers are tried from the most to the least
// specific; each returns the number of bytes it matches, or zero.

namespace redrive::triage {
namespace {

constexpr std::size_t kQuotedBytesMax = 512;

bool ends_url(char c) {
  return is_space(c) || std::string_view("\"'`<>()[]{},;").find(c) != std::string_view::npos;
}

std::size_t match_url(std::string_view text) {
  const std::size_t scheme = run(text, 0, [](char c) { return is_letter(c) || c == '+'; });
  if (scheme == 0 || !text.substr(scheme).starts_with("://")) return 0;
  return scheme + run(text, scheme, [](char c) { return !ends_url(c); });
}

std::size_t match_email(std::string_view text) {
  constexpr std::size_t kEmailBytesMax = 254;
  text = text.substr(0, kEmailBytesMax);
  const auto is_local = [](char c) { return is_word(c) || c == '.' || c == '-' || c == '+'; };
  const auto is_host = [](char c) { return is_word(c) || c == '.' || c == '-'; };
  const std::size_t local = run(text, 0, is_local);
  if (local == 0 || local == text.size() || text[local] != '@') return 0;
  std::size_t host = run(text, local + 1, is_host);
  while (host > 0 && text[local + host] == '.') --host;  // End of a sentence.
  const bool has_dot = text.substr(local + 1, host).find('.') != std::string_view::npos;
  return has_dot ? local + 1 + host : 0;
}

// Matches a template: `9` is a digit, `x` a hexadecimal digit.
bool looks_like(std::string_view text, std::string_view picture) {
  if (text.size() < picture.size()) return false;
  return std::ranges::equal(text.substr(0, picture.size()), picture, [](char c, char p) {
    return p == '9' ? is_digit(c) : p == 'x' ? is_hex(c) : c == p;
  });
}

bool ends_word(std::string_view text, std::size_t at) {
  return at >= text.size() || !is_word(text[at]);
}

std::size_t match_uuid(std::string_view text) {
  constexpr std::string_view kPicture = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  const bool found = looks_like(text, kPicture) && ends_word(text, kPicture.size());
  return found ? kPicture.size() : 0;
}

std::size_t match_time(std::string_view text) {
  if (!looks_like(text, "99:99")) return 0;
  std::size_t end = looks_like(text, "99:99:99") ? 8 : 5;
  if (end < text.size() && (text[end] == '.' || text[end] == ',')) {
    const std::size_t fraction = run(text, end + 1, is_digit);
    if (fraction > 0) end += 1 + fraction;
  }
  const std::string_view zone = text.substr(end);
  if (zone.starts_with("Z")) return end + 1;
  if (zone.starts_with("+") || zone.starts_with("-")) {
    if (looks_like(zone.substr(1), "99:99")) return end + 6;
    if (looks_like(zone.substr(1), "9999")) return end + 5;
  }
  return end;
}

std::size_t match_date(std::string_view text) {
  for (const std::string_view picture : {"9999-99-99", "9999/99/99", "99/99/9999", "99.99.9999"}) {
    if (!looks_like(text, picture)) continue;
    const std::size_t end = picture.size();
    if (end < text.size() && (text[end] == 'T' || text[end] == ' ')) {
      const std::size_t time = match_time(text.substr(end + 1));
      if (time > 0) return end + 1 + time;
    }
    return ends_word(text, end) ? end : 0;
  }
  return 0;
}

std::size_t match_ip(std::string_view text) {
  std::size_t at = 0;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at >= text.size() || text[at++] != '.')) return 0;
    const std::size_t digits = run(text, at, is_digit);
    if (digits == 0 || digits > 3) return 0;
    at += digits;
  }
  if (!ends_word(text, at)) return 0;
  const bool port = at + 1 < text.size() && text[at] == ':' && is_digit(text[at + 1]);
  return port ? at + 1 + run(text, at + 1, is_digit) : at;
}

std::size_t match_hex_literal(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return 0;
  const std::size_t digits = run(text, 2, is_hex);
  return digits > 0 && ends_word(text, 2 + digits) ? 2 + digits : 0;
}

// A path has at least two separators: "and/or" and "/orders" are kept.
std::size_t match_path(std::string_view text) {
  const auto in_path = [](char c) {
    return is_word(c) || std::string_view("/\\.-+@~:%").find(c) != std::string_view::npos;
  };
  const bool drive = text.size() > 3 && is_letter(text[0]) && text[1] == ':' &&
                     (text[2] == '\\' || text[2] == '/');
  const bool rooted = text.starts_with("/") || text.starts_with("~/") || text.starts_with("./") ||
                      text.starts_with("../") || text.starts_with("\\\\");
  if (!drive && !rooted) return 0;
  std::size_t size = run(text, 0, in_path);
  while (size > 0 && (text[size - 1] == '.' || text[size - 1] == ':')) --size;
  const auto is_separator = [](char c) { return c == '/' || c == '\\'; };
  return std::ranges::count_if(text.substr(0, size), is_separator) >= 2 ? size : 0;
}

// 17, -3.5, 1,234,567 and 6.02e23; units may follow ("30s", "5 MB").
std::size_t match_number(std::string_view text) {
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::size_t digits = run(text, at, is_digit);
  if (digits == 0) return 0;
  at += digits;
  while (looks_like(text.substr(at), ",999")) at += 4;
  if (at + 1 < text.size() && text[at] == '.' && is_digit(text[at + 1])) {
    at += 1 + run(text, at + 1, is_digit);
  }
  if (looks_like(text.substr(at), "e9") || looks_like(text.substr(at), "E9")) {
    at += 1 + run(text, at + 1, is_digit);
  }
  const std::size_t unit = run(text, at, is_letter);
  return unit <= 2 && ends_word(text, at + unit) ? at : 0;
}

// A digest, address or key in hexadecimal: long, with both digits and letters.
bool is_long_hex(std::string_view word) {
  return word.size() >= 8 && std::ranges::all_of(word, is_hex) &&
         std::ranges::any_of(word, is_digit) && std::ranges::any_of(word, is_letter);
}

// Generated by a machine: letters and digits alternate more often than in a chosen name.
bool is_id(std::string_view word) {
  int turns = 0;
  for (std::size_t i = 1; i < word.size(); ++i) {
    const bool turn =
        is_digit(word[i]) ? is_letter(word[i - 1]) : is_letter(word[i]) && is_digit(word[i - 1]);
    turns += turn ? 1 : 0;
  }
  return turns >= 2 || (turns == 1 && is_digit(word[0]));
}

void append_word(std::string& out, std::string_view word) {
  if (is_long_hex(word)) {
    out += "<hex>";
  } else if (is_id(word)) {
    out += "<id>";
  } else {
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t digits = run(word, at, is_digit);
      if (digits > 0) {
        out += "<n>";
        at += digits;
      } else {
        out += word[at++];
      }
    }
  }
}

// order-17 and us-east-1: keeps the words.
void append_hyphenated(std::string& out, std::string_view words) {
  while (!words.empty()) {
    const std::size_t letters = run(words, 0, [](char c) { return is_letter(c) || c == '_'; });
    const bool whole = letters == words.size() || words[letters] == '-';
    if (!whole) break;
    const std::size_t taken = std::min(letters + 1, words.size());
    out += words.substr(0, taken);
    words.remove_prefix(taken);
  }
  if (!words.empty()) out += "<id>";
}

void append_words(std::string& out, std::string_view words) {
  const bool hyphenated = words.find('-') != std::string_view::npos;
  if (hyphenated && std::ranges::any_of(words, is_digit)) {
    append_hyphenated(out, words);
  } else if (hyphenated) {
    out += words;
  } else {
    append_word(out, words);
  }
}

bool is_name(std::string_view text) {
  constexpr std::size_t kNameBytesMax = 48;
  const auto in_name = [](char c) { return is_letter(c) || c == '_' || c == '.'; };
  return !text.empty() && text.size() <= kNameBytesMax && !is_digit(text[0]) &&
         std::ranges::all_of(text, in_name);
}

bool is_compound(std::string_view name) {
  if (name.find_first_of("_.") != std::string_view::npos) return true;
  for (std::size_t i = 1; i < name.size(); ++i) {
    if (is_upper(name[i]) && is_lower(name[i - 1])) return true;
  }
  return false;
}

class Normaliser {
 public:
  Normaliser(std::string_view text, QuotedNames names) : text_(text), names_(names) {}

  std::string run_all() {
    while (at_ < text_.size()) step();
    while (!out_.empty() && out_.back() == ' ') out_.pop_back();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (is_space(c)) {
      if (!out_.empty() && out_.back() != ' ') out_ += ' ';
      ++at_;
    } else if (at_token_begin() && (quoted() || placeholder())) {
      return;
    } else if (is_word(c)) {
      words();
    } else {
      out_ += c;
      ++at_;
    }
  }

  bool at_token_begin() const { return at_ == 0 || !is_word(text_[at_ - 1]); }

  bool quoted() {
    const char quote = text_[at_];
    if (quote != '"' && quote != '\'' && quote != '`') return false;
    std::size_t end = at_ + 1;
    const std::size_t limit = std::min(text_.size(), at_ + kQuotedBytesMax);
    while (end < limit && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
    if (end >= limit) return false;
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    const bool keep = is_name(inside) && (names_ == QuotedNames::keep_all || is_compound(inside));
    out_.append(1, quote).append(keep ? inside : "<string>").append(1, quote);
    at_ = end + 1;
    return true;
  }

  bool placeholder() {
    struct Kind {
      std::size_t (*match)(std::string_view);
      std::string_view name;
    };
    constexpr Kind kKinds[] = {
        {match_url, "<url>"},
        {match_email, "<email>"},
        {match_uuid, "<uuid>"},
        {match_date, "<date>"},
        {match_time, "<time>"},
        {match_ip, "<ip>"},
        {match_hex_literal, "<hex>"},
        {match_path, "<path>"},
        {match_number, "<number>"},
    };
    for (const Kind& kind : kKinds) {
      const std::size_t size = kind.match(text_.substr(at_));
      if (size == 0) continue;
      if (kind.match == match_number && is_more_than_number(size)) continue;
      out_ += kind.name;
      at_ += size;
      return true;
    }
    return false;
  }

  // 17-8f3a is an id, 0..9 are two numbers.
  bool is_more_than_number(std::size_t size) const {
    const std::size_t end = at_ + size;
    return end + 1 < text_.size() && text_[end] == '-' && is_word(text_[end + 1]);
  }

  void words() {
    const std::size_t size = run(text_, at_, [](char c) { return is_word(c) || c == '-'; });
    std::string_view words = text_.substr(at_, size);
    while (words.ends_with('-')) words.remove_suffix(1);
    append_words(out_, words);
    at_ += words.size();
  }

  std::string_view text_;
  QuotedNames names_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string normalise_message(std::string_view message, QuotedNames names) {
  return Normaliser(message.substr(0, kMessageBytesRead), names).run_all();
}

std::string normalise_name(std::string_view name) {
  constexpr std::size_t kNameBytesMax = 128;
  std::string out;
  name = name.substr(0, kNameBytesMax);
  if (const std::size_t uuid = match_uuid(name); uuid == name.size() && uuid > 0) return "<uuid>";
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t size = run(name, at, [](char c) { return is_word(c) || c == '-'; });
    append_words(out, name.substr(at, size));
    at += size;
    if (at < name.size()) out += name[at++];
  }
  return out;
}

}  // namespace redrive::triage
