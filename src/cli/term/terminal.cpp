#include "cli/term/terminal.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <optional>

#include "base/text.h"

namespace redrive::cli {
namespace {

std::string_view escape_of(Color color) {
  switch (color) {
    case Color::bold:
      return "\x1b[1m";
    case Color::dim:
      return "\x1b[2m";
    case Color::red:
      return "\x1b[31m";
    case Color::green:
      return "\x1b[32m";
    case Color::yellow:
      return "\x1b[33m";
    case Color::cyan:
      return "\x1b[36m";
  }
  return "";
}

constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::array kColors = {
    Color::bold, Color::dim, Color::red, Color::green, Color::yellow, Color::cyan};

// Non-ASCII code points that affect the surrounding text.
bool acts(char32_t code) {
  return (code >= 0x80 && code <= 0x9f) ||      // C1: 0x9b starts a control sequence.
         code == 0x61c ||                       // Arabic letter mark.
         (code >= 0x200e && code <= 0x200f) ||  // Left-to-right and right-to-left mark.
         (code >= 0x2028 && code <= 0x202e) ||  // Separators, embeddings and overrides.
         (code >= 0x2066 && code <= 0x2069) ||  // Isolates.
         (code >= 0xfff9 && code <= 0xfffb) ||  // Annotations.
         (code >= 0xe0000 && code <= 0xe007f);  // Invisible tags.
}

// Escapes a text code point by code point.
class Escaper {
 public:
  enum class Style : std::uint8_t { one_line, lines, painted, json };

  explicit Escaper(Style style) : style_(style) {}

  std::string run(std::string_view text) {
    out_.reserve(text.size());
    while (!text.empty()) text.remove_prefix(step(text));
    return std::move(out_);
  }

 private:
  // Returns the number of bytes consumed.
  std::size_t step(std::string_view text) {
    const auto byte = static_cast<unsigned char>(text.front());
    if (byte < 0x80) return ascii(text);
    std::size_t size = 1;
    const auto code = code_point(text, size);
    if (!code) {
      // A server's JSON is UTF-8; invalid bytes are replaced.
      style_ == Style::json ? void(out_ += "\xef\xbf\xbd") : add_byte(byte);
      return 1;
    }
    acts(*code) ? add_code(*code) : void(out_ += text.substr(0, size));
    return size;
  }

  std::size_t ascii(std::string_view text) {
    const char c = text.front();
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
    const bool line = c == '\n' || c == '\t';
    // In JSON, control characters occur between tokens, or as DEL in a string.
    const bool kept = (line && style_ != Style::one_line && style_ != Style::painted) ||
                      (c == '\r' && style_ == Style::json);
    if (!control || kept) {
      out_ += c;
      return 1;
    }
    if (const std::size_t size = style_ == Style::painted ? color_code(text) : 0) {
      out_ += text.substr(0, size);
      return size;
    }
    constexpr std::string_view kNamed = "\n\r\t";
    const std::size_t named = style_ == Style::lines ? kNamed.npos : kNamed.find(c);
    if (style_ == Style::json) {
      add_code(static_cast<unsigned char>(c));
    } else if (named != kNamed.npos) {
      out_.append("\\").append(1, "nrt"[named]);
    } else {
      add_byte(static_cast<unsigned char>(c));
    }
    return 1;
  }

  static std::size_t color_code(std::string_view text) {
    if (text.starts_with(kPlain)) return kPlain.size();
    for (const Color color : kColors) {
      if (text.starts_with(escape_of(color))) return escape_of(color).size();
    }
    return 0;
  }

  static std::optional<char32_t> code_point(std::string_view text, std::size_t& size) {
    const auto lead = static_cast<unsigned char>(text.front());
    size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (size > text.size() || !is_utf8(text.substr(0, size))) return std::nullopt;
    char32_t code = lead & (0x7fu >> size);
    for (const char c : text.substr(1, size - 1)) code = code << 6 | (c & 0x3f);
    return code;
  }

  void add_byte(unsigned char byte) { fmt::format_to(std::back_inserter(out_), "\\x{:02x}", byte); }
  void add_code(char32_t code) {
    const auto value = static_cast<std::uint32_t>(code);
    if (style_ != Style::json && value < 0x100) return add_byte(static_cast<unsigned char>(value));
    if (value < 0x10000) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", value);
    } else if (style_ == Style::json) {
      const std::uint32_t rest = value - 0x10000;
      fmt::format_to(std::back_inserter(out_),
                     "\\u{:04x}\\u{:04x}",
                     0xd800 + (rest >> 10),
                     0xdc00 + (rest & 0x3ff));
    } else {
      fmt::format_to(std::back_inserter(out_), "\\U{:08x}", value);
    }
  }

  const Style style_;
  std::string out_;
};

}  // namespace

std::string paint(const Terminal& terminal, Color color, std::string_view text) {
  if (!terminal.colored || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(color), text);
}

std::string harmless(std::string_view text) {
  return Escaper(Escaper::Style::one_line).run(text);
}
std::string harmless_lines(std::string_view text) {
  return Escaper(Escaper::Style::lines).run(text);
}
std::string harmless_painted(std::string_view text) {
  return Escaper(Escaper::Style::painted).run(text);
}
std::string harmless_json(std::string_view json) {
  return Escaper(Escaper::Style::json).run(json);
}

bool confirm(Terminal& terminal, std::string_view question) {
  terminal.err << question << " [y/N] " << std::flush;
  std::string line;
  std::getline(terminal.in, line);
  return iequals(line, "y") || iequals(line, "yes");
}

}  // namespace redrive::cli
