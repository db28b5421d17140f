#include "base/xml.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "base/text.h"

namespace redrive {
namespace {

constexpr int kDepthMax = 32;
constexpr std::size_t kElementsMax = 100'000;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xe0 | code >> 12);
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3f));
    }
    byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

// `#38`, `#x26`
bool append_character(std::string& out, std::string_view reference) {
  reference.remove_prefix(1);
  const bool hex = reference.starts_with('x');
  if (hex) reference.remove_prefix(1);
  std::uint32_t code = 0;
  const char* const end = reference.data() + reference.size();
  const auto [stop, error] = std::from_chars(reference.data(), end, code, hex ? 16 : 10);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (error != std::errc() || stop != end || code == 0 || code > 0x10ffff || surrogate)
    return false;
  append_utf8(out, code);
  return true;
}

bool append_entity(std::string& out, std::string_view name) {
  if (name.starts_with('#')) return append_character(out, name);
  constexpr std::array<std::pair<std::string_view, char>, 5> kEntities = {
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [known, character] : kEntities) {
    if (name != known) continue;
    out += character;
    return true;
  }
  return false;
}

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text) {}

  std::optional<XmlElement> read() {
    XmlElement root;
    if (!skip_misc() || !read_element(root, 0) || !skip_misc() || !rest_.empty()) {
      return std::nullopt;
    }
    return root;
  }

 private:
  bool take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  // Consumes everything up to and including `token`, and returns what precedes it.
  std::optional<std::string_view> take_until(std::string_view token) {
    const std::size_t at = rest_.find(token);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view taken = rest_.substr(0, at);
    rest_.remove_prefix(at + token.size());
    return taken;
  }

  void skip_spaces() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }

  // Skips spaces, comments and processing instructions around the root. A DOCTYPE is not accepted.
  bool skip_misc() {
    if (take("\xef\xbb\xbf")) skip_spaces();
    while (true) {
      skip_spaces();
      if (take("<?")) {
        if (!take_until("?>")) return false;
      } else if (take("<!--")) {
        if (!take_until("-->")) return false;
      } else {
        return true;
      }
    }
  }

  std::string_view take_name() {
    std::size_t size = 0;
    while (size < rest_.size() && !is_space(rest_[size]) && rest_[size] != '>' &&
           rest_[size] != '/' && rest_[size] != '=' && rest_[size] != '<') {
      ++size;
    }
    const std::string_view name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return name.substr(name.find(':') + 1);
  }

  // Skips to the end of the start tag; returns whether the element has content.
  std::optional<bool> skip_attributes() {
    while (true) {
      skip_spaces();
      if (take("/>")) return false;
      if (take(">")) return true;
      if (take_name().empty()) return std::nullopt;
      skip_spaces();
      if (!take("=")) return std::nullopt;
      skip_spaces();
      const bool whole =
          take("\"") ? take_until("\"").has_value() : take("'") && take_until("'").has_value();
      if (!whole) return std::nullopt;
    }
  }

  bool read_element(XmlElement& element, int depth) {
    if (depth > kDepthMax || ++elements_ > kElementsMax || !take("<")) return false;
    element.name = take_name();
    if (element.name.empty()) return false;
    const auto contents = skip_attributes();
    return contents && (!*contents || read_contents(element, depth));
  }

  bool read_contents(XmlElement& element, int depth) {
    while (!rest_.empty()) {
      if (take("</")) return read_end(element);
      if (take("<!--")) {
        if (!take_until("-->")) return false;
      } else if (take("<![CDATA[")) {
        const auto data = take_until("]]>");
        if (!data) return false;
        element.text += *data;
      } else if (rest_.front() == '<') {
        if (!read_element(element.children.emplace_back(), depth + 1)) return false;
      } else if (!read_text(element.text)) {
        return false;
      }
    }
    return false;
  }

  bool read_end(const XmlElement& element) {
    const bool same = take_name() == element.name;
    skip_spaces();
    return same && take(">");
  }

  bool read_text(std::string& out) {
    const std::size_t size = std::min(rest_.find_first_of("<&"), rest_.size());
    out += rest_.substr(0, size);
    rest_.remove_prefix(size);
    if (!take("&")) return true;
    const auto name = take_until(";");
    return name && append_entity(out, *name);
  }

  std::string_view rest_;
  std::size_t elements_ = 0;
};

}  // namespace

const XmlElement* XmlElement::find(std::string_view child) const {
  for (const XmlElement& candidate : children) {
    if (candidate.name == child) return &candidate;
  }
  return nullptr;
}

std::string_view XmlElement::text_of(std::string_view child) const {
  const XmlElement* const found = find(child);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

std::optional<XmlElement> parse_xml(std::string_view text) {
  // Control characters that XML 1.0 does not allow are accepted: an object key containing one can
  // be stored, so it must be possible to delete it.
  if (!is_utf8(text)) return std::nullopt;
  return XmlReader(text).read();
}

}  // namespace redrive
