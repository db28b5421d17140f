#include "cli/terminal.h"

#include <fmt/format.h>

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

}  // namespace

std::string paint(const Terminal& terminal, Color color, std::string_view text) {
  if (!terminal.colored || text.empty()) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(color), text);
}

std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    // U+0080..U+009F, the eight-bit controls, are C2 80..C2 9F in UTF-8.
    const bool wide =
        byte == 0xc2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    if (wide || control) {
      out += fmt::format("\\x{:02x}", wide ? static_cast<unsigned char>(text[++at]) : byte);
    } else {
      out += text[at];
    }
  }
  return out;
}

bool confirm(Terminal& terminal, std::string_view question) {
  terminal.err << question << " [y/N] " << std::flush;
  std::string line;
  std::getline(terminal.in, line);
  return iequals(line, "y") || iequals(line, "yes");
}

}  // namespace redrive::cli
