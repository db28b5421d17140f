#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/term/terminal.h"

namespace redrive::cli {

// Display width of a text in columns: East Asian wide characters and emoji count as two, combining
// marks as none.
std::size_t display_width(std::string_view text);

// Rows under headings, each column as wide as its widest cell. The last column is not padded, so
// that lines have no trailing blanks.
class Table {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string heading;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);

  // One cell per column. Untrusted content cannot break out of its cell: see harmless_painted.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  std::string text(const Terminal& terminal) const;

 private:
  std::string line(const std::vector<std::string>& cells,
                   const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// `name  value` lines with aligned values, one line each whatever they contain; names are coloured.
std::string name_value_lines(const Terminal& terminal,
                             const std::vector<std::pair<std::string, std::string>>& pairs,
                             std::size_t indent = 0);

}  // namespace redrive::cli
