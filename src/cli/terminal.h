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

// Texts that strangers wrote, fit for a terminal. What a terminal would obey rather than show is
// written as an escape: control characters and bytes that are not UTF-8 as \xNN; characters that
// reorder or break what stands around them (bidirectional controls, line and paragraph separators)
// as \uNNNN.
//
// `harmless` gives one line: line breaks and tabs become \n, \r and \t, so that a name cannot forge
// a second line or a column. `harmless_lines` keeps \n and tabs, for bodies, logs and stack traces.
std::string harmless(std::string_view text);
std::string harmless_lines(std::string_view text);
// The same for one line that paint() may have coloured: its escape codes stay. Tables apply it to
// every cell.
std::string harmless_painted(std::string_view text);
// A JSON document in which strings say the same with escapes instead of such characters. It stays
// valid JSON with the same values.
std::string harmless_json(std::string_view json);

// Asks on standard error, reads one line, and takes only y or yes for a yes.
bool confirm(Terminal& terminal, std::string_view question);

}  // namespace redrive::cli
