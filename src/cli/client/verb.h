#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The command-line parser as used by our commands. CLI11 is included only in verb.cpp, because its
// headers add eight seconds of compile time to each file.
namespace redrive::cli {

// An option, a flag or a positional argument. A handle: copies refer to the same option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required();
  Option value_name(const std::string& name);  // Name of its value in the help.
  Option range(std::int64_t min, std::int64_t max);
  Option positive();  // A number above zero.
  Option one_of(std::vector<std::string> words);
  Option many();             // A positional argument with one or more values.
  Option one_at_a_time();    // May be repeated, with one value each time.
  Option comma_separated();  // Several values in one argument.
  Option shows_default();
  Option group(const std::string& name);  // Heading in the help.
  Option needs(Option other);
  Option excludes(Option other);

  // Whether it was given on the command line.
  bool given() const;

 private:
  CLI::Option* option_;
};

// A command, or a group of commands. A handle, valid as long as its Program.
class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(&app) {}

  // Adds a subcommand.
  Verb verb(const std::string& name, const std::string& help);
  // Requires a subcommand.
  void needs_a_verb();
  // `place` receives the value. T is a string, an integer or a double, optional or not, or a vector
  // of strings: see the end of verb.cpp.
  template <class T>
  Option option(const std::string& names, T& place, const std::string& help);
  Option flag(const std::string& names, bool& place, const std::string& help);
  // The action of this command.
  void runs(std::function<void()> action);

  // `redrive queue create`, as typed.
  std::string full_name() const;

 private:
  CLI::App* app_;
};

// A complete command line.
class Program {
 public:
  Program(const std::string& name, const std::string& help, const std::string& version);
  ~Program();

  Verb root();
  // Runs the command named by the arguments (without the program's name). Prints the requested
  // help, or the error and where to read more. Returns the exit code: 2 for a usage error, else 0;
  // commands report their own.
  int run(std::vector<std::string> arguments, std::ostream& out, std::ostream& err);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace redrive::cli
