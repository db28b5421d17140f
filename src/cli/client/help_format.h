#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace CLI {
class FormatterBase;
}

namespace redrive::cli {

// Lays out --help for terminals of 80 columns: descriptions are wrapped, and the ranges and
// exclusions that CLI11 prints behind an option's name are left to the errors.
std::shared_ptr<CLI::FormatterBase> help_format();

// `text` in lines of at most `columns` bytes, broken at spaces. A longer word keeps its own line.
std::string wrapped(std::string_view text, std::size_t columns);

// How an option's value is shown: "INT" for CLI11's "INT:INT in [1 - 10]", "{on,off}" for
// "TEXT:{on,off}". Names that a command gives, such as "ADDR:PORT", stay as they are.
std::string value_label(std::string_view type_name);

}  // namespace redrive::cli
