#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.h"

namespace redrive::cli {

// How many columns a text takes on a terminal: code points, with East Asian wide ones and emoji as
// two and combining marks as none.
std::size_t display_width(std::string_view text);

// Rows under headings, each column as wide as its widest cell. The last column is never padded, so
// that no line ends in blanks.
class Table {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string heading;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);

  // As many cells as there are columns. Whatever they hold, each stays in its cell and its line:
  // see harmless_painted.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text(const Terminal& terminal) const;

 private:
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// `name  value` lines with the values in one column, one line each whatever they hold; names are
// painted.
std::string name_value_lines(const Terminal& terminal,
                             const std::vector<std::pair<std::string, std::string>>& pairs,
                             std::size_t indent = 0);

}  // namespace redrive::cli
