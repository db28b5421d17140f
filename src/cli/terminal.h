#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>

namespace redrive::cli {

enum class Color : std::uint8_t { bold, dim, red, green, yellow, cyan };

// The three standard streams and what is at their other end.
struct Terminal {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool colored = false;  // Standard output takes escape codes: a terminal, and no NO_COLOR.
};

// The text in that colour, or plain when standard output is not to be coloured.
std::string paint(const Terminal& terminal, Color color, std::string_view text);

// What a terminal would obey rather than show becomes \xNN; line ends and tabs stay. Strangers
// write message bodies, and an escape sequence in one must not drive the operator's terminal.
std::string harmless(std::string_view text);

// Asks on standard error, reads one line, and takes only y or yes for a yes.
bool confirm(Terminal& terminal, std::string_view question);

}  // namespace redrive::cli
