#include "cli/client/help_format.h"

#include <CLI/CLI.hpp>
#include <sstream>

namespace redrive::cli {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kNameColumns = 30;

class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() { column_width(kNameColumns); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(
        CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
  }

  std::string make_subcommand(const CLI::App* sub) const override {
    std::stringstream out;
    CLI::detail::format_help(out,
                             sub->get_display_name(true),
                             wrapped(sub->get_description(), kColumns - kNameColumns),
                             kNameColumns);
    return out.str();
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    std::string text = " " + value_label(option->get_type_name());
    const std::string& given = option->get_default_str();
    if (!given.empty() && given != "[]") text += "=" + given;
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    if (option->get_required() && !option->get_positional()) text += " REQUIRED";
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description(), kColumns - kNameColumns);
  }
};

}  // namespace

std::string wrapped(std::string_view text, std::size_t columns) {
  std::string lines;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (used > 0 && used + 1 + word.size() > columns) {
      lines += '\n';
      used = 0;
    } else if (used > 0) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += word.size();
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return lines;
}

std::string value_label(std::string_view type_name) {
  const std::size_t colon = type_name.find(':');
  if (colon == std::string_view::npos) return std::string(type_name);
  const std::string_view check = type_name.substr(colon + 1);
  if (check.starts_with('{')) return std::string(check);
  const bool is_check = check.find(" in [") != std::string_view::npos || check == "POSITIVE" ||
                        check == "NONNEGATIVE" || check == "NUMBER";
  return std::string(is_check ? type_name.substr(0, colon) : type_name);
}

std::shared_ptr<CLI::FormatterBase> help_format() {
  return std::make_shared<HelpFormat>();
}

}  // namespace redrive::cli
