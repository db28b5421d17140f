#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>

namespace redrive::cli {

enum class Color : std::uint8_t { bold, dim, red, green, yellow, cyan };

// The three standard streams, and whether they are terminals.
struct Terminal {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  bool in_is_terminal = false;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool colored = false;  // stdout supports colours: a terminal, and no NO_COLOR.
};

// The text in that colour, or plain if stdout is not coloured.
std::string paint(const Terminal& terminal, Color color, std::string_view text);

// Makes untrusted text safe for a terminal. Characters that a terminal would interpret are escaped:
// control characters and invalid UTF-8 as \xNN; characters that reorder or break the surrounding
// text (bidirectional controls, line and paragraph separators) as \uNNNN.
//
// `harmless` returns one line: line breaks and tabs become \n, \r and \t, so that a name cannot
// forge a second line or a column. `harmless_lines` keeps \n and tabs, for bodies, logs and stack
// traces.
std::string harmless(std::string_view text);
std::string harmless_lines(std::string_view text);
// The same for one line that may contain the colour codes of paint(), which are kept. Tables apply
// it to every cell.
std::string harmless_painted(std::string_view text);
// Escapes such characters in the strings of a JSON document. The result is valid JSON with the same
// values.
std::string harmless_json(std::string_view json);

// Prompts on stderr, reads one line, and accepts only y or yes.
bool confirm(Terminal& terminal, std::string_view question);

}  // namespace redrive::cli
