#include "cli/term/table.h"

#include <algorithm>
#include <cassert>

namespace redrive::cli {
namespace {

constexpr std::string_view kGap = "  ";

// Approximate; it only has to keep columns aligned for common text.
std::size_t width_of(char32_t code) {
  if (code >= 0x300 && code <= 0x36f) return 0;
  if (code == 0x200b || code == 0x200d || (code >= 0xfe00 && code <= 0xfe0f)) return 0;
  const bool wide = (code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
                    (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
                    (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
                    (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

std::string padded(const std::string& cell, std::size_t width, Table::Align align) {
  const std::string blanks(width - std::min(width, display_width(cell)), ' ');
  return align == Table::Align::left ? cell + blanks : blanks + cell;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  char32_t code = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool continuation = (byte & 0xc0) == 0x80;
    if (continuation) {
      code = (code << 6) | (byte & 0x3f);
    } else {
      code = byte < 0x80    ? byte
             : byte >= 0xf0 ? byte & 0x07
             : byte >= 0xe0 ? byte & 0x0f
                            : byte & 0x1f;
    }
    const bool last =
        at + 1 == text.size() || (static_cast<unsigned char>(text[at + 1]) & 0xc0) != 0x80;
    if (last) width += width_of(code);
  }
  return width;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::add(std::vector<std::string> cells) {
  assert(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = harmless_painted(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::line(const std::vector<std::string>& cells,
                        const std::vector<std::size_t>& widths) const {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool bare = i + 1 == cells.size() && columns_[i].align == Align::left;
    out += bare ? cells[i] : padded(cells[i], widths[i], columns_[i].align);
    if (i + 1 < cells.size()) out += kGap;
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::string Table::text(const Terminal& terminal) const {
  std::vector<std::string> headings;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    headings.push_back(column.heading);
    widths.push_back(display_width(column.heading));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string out = paint(terminal, Color::bold, line(headings, widths)) + "\n";
  for (const auto& row : rows_) out += line(row, widths) + "\n";
  return out;
}

std::string name_value_lines(const Terminal& terminal,
                             const std::vector<std::pair<std::string, std::string>>& pairs,
                             std::size_t indent) {
  std::size_t width = 0;
  for (const auto& [name, value] : pairs) width = std::max(width, display_width(harmless(name)));
  std::string out;
  for (const auto& [name, value] : pairs) {
    out.append(indent, ' ');
    out += paint(terminal, Color::cyan, padded(harmless(name), width, Table::Align::left));
    out.append(kGap).append(harmless_painted(value)).append("\n");
  }
  return out;
}

}  // namespace redrive::cli
