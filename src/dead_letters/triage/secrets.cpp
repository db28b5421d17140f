#include "dead_letters/triage/secrets.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/pattern.h"
#include "base/text.h"
#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/json_values.h"
#include "dead_letters/triage/secret_values.h"

// One pass that handles JSON, JSON inside a JSON string, truncated JSON, XML, forms, headers and
// log lines alike: a name, a sign that its value follows, and the value.
//
// Every step consumes what it has read, or has read only a constant number of bytes; the content of
// an XML element is read ahead, limited by a budget. So the time is linear in the text.

namespace redrive::triage {
namespace {

constexpr std::size_t kMaskRulesNameMax = 256;

bool in_token(char c) {
  return is_word(c) || c == '-';
}
bool is_high(char c) {
  return static_cast<unsigned char>(c) >= 0x80;
}
bool is_slash(char c) {
  return c == '\\';
}

// Whether an AWS access key id occurs close to `at`.
bool is_near_access_key_id(std::string_view text, std::size_t at) {
  constexpr std::size_t kNear = 256;
  constexpr std::size_t kIdBytes = 20;
  const std::size_t begin = at - std::min(at, kNear);
  const std::string_view near = text.substr(begin, at - begin + kNear + kIdBytes);
  for (std::size_t id = near.find('A'); id != near.npos; id = near.find('A', id + 1)) {
    if (match_access_key_id(near.substr(id, kIdBytes)) > 0) return true;
  }
  return false;
}

class Masker {
 public:
  Masker(std::string_view text, std::size_t bytes_max, std::span<const ByteRange> chosen)
      : text_(text), bytes_max_(bytes_max), chosen_(chosen), budget_(4 * text.size()) {}

  std::string run_all() {
    while (at_ < text_.size() && out_.size() <= bytes_max_) {
      if (!chosen_value()) step();
    }
    return cut(out_, bytes_max_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  void copy(std::size_t size) {
    out_ += text_.substr(at_, size);
    at_ += size;
  }
  // In place of a JSON number or object the mask is a quoted string, so that the result stays valid
  // JSON.
  void mask(std::size_t size) {
    const std::string_view quote = at_ == value_at_ ? value_quote_ : std::string_view();
    out_.append(quote).append(kMask).append(quote);
    at_ += size;
  }

  // A value selected by the rules; those inside an already masked value are skipped.
  bool chosen_value() {
    while (!chosen_.empty() && chosen_.front().begin < at_) chosen_ = chosen_.subspan(1);
    if (chosen_.empty() || chosen_.front().begin != at_) return false;
    fmt::format_to(std::back_inserter(out_), "\"{}\"", kMask);
    at_ = chosen_.front().end;
    return true;
  }

  void step() {
    const char c = text_[at_];
    if (c == '-' && rest().starts_with("-----BEGIN ")) {
      const std::size_t size = match_private_key(rest());
      return size > 0 ? mask(size) : copy(1);
    }
    if (c == ':' && rest().starts_with("://")) return url_password();
    if (c == '<') return tag();
    if (in_secret_access_key(c) && secret_access_key()) return;
    if (is_slash(c)) return slashes();
    if (is_word(c) || is_high(c)) return word();
    copy(1);
  }

  bool secret_access_key() {
    if (at_ > 0 && in_secret_access_key(text_[at_ - 1])) return false;
    const std::size_t size = match_secret_access_key(rest());
    if (size == 0 || !is_near_access_key_id(text_, at_)) return false;
    mask(size);
    return true;
  }

  // Backslashes of an escape or of a path. In \n, the n is not the start of a word; what follows
  // is.
  void slashes() {
    if (unicode_escape(text_, at_) > 0) return word();
    copy(run(text_, at_, is_slash));
    const bool letter = at_ < text_.size() && std::string_view("bfnrt").contains(text_[at_]);
    if (letter) copy(1);
  }

  // A name as in JSON: letters of any script, and escapes of them.
  std::size_t name_size() const {
    std::size_t end = at_;
    while (end < text_.size()) {
      const std::size_t escape = is_slash(text_[end]) ? unicode_escape(text_, end) : 0;
      if (escape == 0 && !in_token(text_[end]) && !is_high(text_[end])) break;
      end += std::max<std::size_t>(escape, 1);
    }
    return end - at_;
  }

  // At the start of a word.
  void word() {
    for (const auto match : {match_prefixed_key, match_jwt, match_card, match_iban}) {
      if (const std::size_t size = match(rest())) return mask(size);
    }
    if (const std::size_t scheme = match_scheme(rest())) {
      copy(scheme);
      return mask(run(text_, at_, in_base64_token));
    }
    const std::size_t size = name_size();
    const std::string_view name = text_.substr(at_, size);
    copy(size);
    const std::size_t value = value_begin();
    if (value == 0) return;
    value_at_ = value;
    const std::size_t slashes = run(text_.substr(0, at_ + kEscapeDepthMax), at_, is_slash);
    const bool json = text_.substr(at_ + slashes).starts_with('"') && text_[value - 1] != '=';
    value_quote_ = json ? text_.substr(at_, slashes + 1) : std::string_view();
    if (!is_secret_name(name)) return;
    copy(value - at_);
    mask_value(name);
  }

  // Where the value of the name just copied starts, after `": "`, `=`, `: ` and so on; 0 if
  // there is none.
  std::size_t value_begin() const {
    std::size_t sign = at_;
    sign += run(text_, sign, [](char c) { return is_slash(c) || c == '"' || c == '\''; });
    sign += run(text_, sign, is_space);
    if (sign >= text_.size() || (text_[sign] != ':' && text_[sign] != '=')) return 0;
    if (text_.substr(sign).starts_with("://")) return 0;
    const std::size_t begin = sign + 1;
    return begin + run(text_, begin, [](char c) { return c == ' ' || c == '\t' || c == '>'; });
  }

  void mask_value(std::string_view name) {
    if (at_ >= text_.size()) return;
    if (text_[at_] == '{' || text_[at_] == '[') return mask(nested());
    if (std::string_view("\"'\\").contains(text_[at_])) return quoted();
    const std::string lower = to_lower(name);
    const bool whole_line = lower.ends_with("authorization") || lower.ends_with("cookie");
    const std::string_view ends = whole_line ? "\r\n" : " \t\r\n,;&}])\"'\\";
    const std::size_t size = run(text_, at_, [&](char c) { return !ends.contains(c); });
    const std::string_view value = text_.substr(at_, size);
    if (size == 0 || value == "null" || value == "true" || value == "false") return copy(size);
    mask(size);
  }

  // A quoted value, whose quotes may be escaped.
  void quoted() {
    const std::size_t slashes = run(text_, at_, is_slash);
    if (at_ + slashes >= text_.size()) return copy(slashes);
    const char quote = text_[at_ + slashes];
    if (quote != '"' && quote != '\'') return mask(slashes);
    if (slashes > kEscapeDepthMax) return mask(text_.size() - at_);  // Not produced by any encoder.
    copy(slashes + 1);
    const std::string_view end = text_.substr(at_ - slashes - 1, slashes + 1);
    std::size_t size = 0;
    if (slashes > 0) {
      size = std::min(find_text(rest(), end), rest().size());
    } else {
      for (; size < rest().size() && rest()[size] != quote; ++size) {
        if (is_slash(rest()[size]) && size + 1 < rest().size()) ++size;
      }
    }
    if (size > 0) mask(size);
  }

  // The size of an object or array, taking quotes into account; the whole rest if it does not end.
  std::size_t nested() const {
    int depth = 0;
    bool in_string = false;
    for (std::size_t at = at_; at < text_.size(); ++at) {
      const char c = text_[at];
      if (is_slash(c)) ++at;
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

  // <password kind="x">: attributes are handled like other names with values, the content is masked
  // as a whole.
  void tag() {
    copy(1);
    const std::size_t size =
        run(text_, at_, [](char c) { return in_token(c) || is_high(c) || c == ':' || c == '.'; });
    const std::string_view name = text_.substr(at_, size);
    if (size == 0 || !is_secret_name(name.substr(name.rfind(':') + 1))) return;
    copy(size);
    while (at_ < text_.size() && text_[at_] != '>' && text_[at_] != '<') {
      if (!chosen_value()) step();
    }
    if (at_ >= text_.size() || text_[at_] != '>') return;
    const bool empty = text_[at_ - 1] == '/';
    copy(1);
    if (!empty) mask_contents();
  }

  void mask_contents() {
    std::size_t size = contents_size();
    if (size == std::string_view::npos) {
      // Not an element after all, or a truncated one.
      size = run(text_, at_, [](char c) { return c != '<' && c != '\n'; });
    }
    const bool blank = run(text_, at_, is_space) >= size;
    blank ? copy(size) : mask(size);
  }

  // The size up to the end tag of the element whose start tag was just read.
  std::size_t contents_size() {
    constexpr std::size_t kNone = std::string_view::npos;
    if (budget_ == 0) return kNone;
    std::size_t depth = 1;
    for (std::size_t at = text_.find('<', at_); at != kNone; at = text_.find('<', at)) {
      const std::string_view markup = text_.substr(at);
      if (markup.starts_with("</") && --depth == 0) return at - at_;
      const bool opens =
          !markup.starts_with("</") && !markup.starts_with("<!") && !markup.starts_with("<?");
      const std::size_t end = markup.starts_with("<![CDATA[") ? text_.find("]]>", at)
                              : markup.starts_with("<!--")    ? text_.find("-->", at)
                                                              : text_.find('>', at);
      if (end == kNone) break;
      if (opens && text_[end - 1] != '/') ++depth;
      at = end;
    }
    budget_ -= std::min(budget_, text_.size() - at_);
    return kNone;
  }

  std::string_view text_;
  std::size_t bytes_max_;
  std::span<const ByteRange> chosen_;
  std::size_t budget_;  // Bytes that may still be read ahead without a match.
  std::size_t at_ = 0;
  std::size_t value_at_ = std::string_view::npos;  // Where the value of the last name starts,
  std::string_view value_quote_;                   // and the quote after that name, if any.
  std::string out_;
};

}  // namespace

Result<MaskRules> MaskRules::make(const std::vector<std::string>& json_paths,
                                  std::vector<std::string> attributes) {
  MaskRules rules;
  if (json_paths.size() > kPathsMax || attributes.size() > kPathsMax) {
    return fail(
        ErrorCode::usage,
        fmt::format("There can be at most {} JSON paths and as many attributes.", kPathsMax));
  }
  for (const std::string& path : json_paths) {
    auto parsed = JsonPath::parse(path);
    if (!parsed) {
      return fail(ErrorCode::usage,
                  fmt::format("the JSON path `{}`: {}", path, parsed.error().message));
    }
    rules.json_paths_.push_back(*std::move(parsed));
  }
  for (const std::string& name : attributes) {
    if (!name.empty() && name.size() <= kMaskRulesNameMax) continue;
    return fail(ErrorCode::usage, "the name of an attribute has 1 to 256 bytes");
  }
  rules.attributes_ = std::move(attributes);
  return rules;
}

bool MaskRules::is_secret_attribute(std::string_view name) const {
  return std::ranges::any_of(attributes_, [&](const auto& each) { return iequals(each, name); });
}

std::string mask_secrets(std::string_view text, const MaskOptions& options) {
  std::vector<ByteRange> chosen;
  if (options.rules != nullptr) chosen = find_json_values(text, options.rules->json_paths());
  return Masker(text, options.bytes_max, chosen).run_all();
}

std::string mask_named_value(std::string_view name, std::string_view value,
                             const MaskRules* rules) {
  const bool chosen = rules != nullptr && rules->is_secret_attribute(name);
  if (chosen || is_secret_name(name)) return std::string(value.empty() ? value : kMask);
  return mask_secrets(value, {.bytes_max = value.npos, .rules = rules});
}

}  // namespace redrive::triage
