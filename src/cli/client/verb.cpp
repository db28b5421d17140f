#include "cli/client/verb.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <optional>
#include <ostream>

#include "cli/client/help_format.h"

namespace redrive::cli {
namespace {

// The innermost command reached by the parser.
CLI::App& deepest(CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest(*chosen.front());
}

}  // namespace

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::value_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::range(std::int64_t min, std::int64_t max) {
  option_->check(CLI::Range(min, max));
  return *this;
}

Option Option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option Option::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}

Option Option::many() {
  option_->expected(1, -1);
  return *this;
}

Option Option::one_at_a_time() {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::comma_separated() {
  option_->delimiter(',');
  return *this;
}

Option Option::shows_default() {
  option_->capture_default_str();
  return *this;
}

Option Option::group(const std::string& name) {
  option_->group(name);
  return *this;
}

Option Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}

Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

bool Option::given() const {
  return option_->count() > 0;
}

Verb Verb::verb(const std::string& name, const std::string& help) {
  return Verb(*app_->add_subcommand(name, help));
}

void Verb::needs_a_verb() {
  app_->require_subcommand(1);
}

template <class T>
Option Verb::option(const std::string& names, T& place, const std::string& help) {
  return Option(*app_->add_option(names, place, help));
}

Option Verb::flag(const std::string& names, bool& place, const std::string& help) {
  return Option(*app_->add_flag(names, place, help));
}

void Verb::runs(std::function<void()> action) {
  app_->callback(std::move(action));
}

std::string Verb::full_name() const {
  if (app_->get_parent() == nullptr) return app_->get_name();
  return Verb(*app_->get_parent()).full_name() + " " + app_->get_name();
}

Program::Program(const std::string& name, const std::string& help, const std::string& version)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->formatter(help_format());  // Before verbs are added: they inherit it.
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
}

Program::~Program() = default;

Verb Program::root() {
  return Verb(*app_);
}

int Program::run(std::vector<std::string> arguments, std::ostream& out, std::ostream& err) {
  std::ranges::reverse(arguments);  // CLI11 expects them in reverse.
  try {
    app_->parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      return app_->exit(error, out, err);
    }
    const Verb reached(deepest(*app_));
    err << fmt::format("redrive: {}\nTry: {} --help\n", error.what(), reached.full_name());
    return 2;
  }
  return 0;
}

template Option Verb::option(const std::string&, std::string&, const std::string&);
template Option Verb::option(const std::string&, std::optional<std::string>&, const std::string&);
template Option Verb::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Verb::option(const std::string&, std::int32_t&, const std::string&);
template Option Verb::option(const std::string&, std::optional<std::int32_t>&, const std::string&);
template Option Verb::option(const std::string&, std::int64_t&, const std::string&);
template Option Verb::option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option Verb::option(const std::string&, std::uint32_t&, const std::string&);
template Option Verb::option(const std::string&, std::uint64_t&, const std::string&);
template Option Verb::option(const std::string&, double&, const std::string&);
template Option Verb::option(const std::string&, std::optional<double>&, const std::string&);

}  // namespace redrive::cli
