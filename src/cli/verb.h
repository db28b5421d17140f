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

// The command line as our commands see it. CLI11 does the work, in verb.cpp alone: seeing its
// headers costs each file eight seconds of compiling.
namespace redrive::cli {

// An option, a flag or a positional argument. A handle: copies mean the same option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option required();
  Option value_name(const std::string& name);  // What the help calls its value.
  Option range(std::int64_t min, std::int64_t max);
  Option positive();  // A number above zero.
  Option one_of(std::vector<std::string> words);
  Option many();             // A positional argument that takes one or more values.
  Option one_at_a_time();    // May be repeated; each time takes one value.
  Option comma_separated();  // Several values in one argument.
  Option shows_default();
  Option group(const std::string& name);  // Heading in the help.
  Option needs(Option other);
  Option excludes(Option other);

  // Whether the command line said it.
  bool given() const;

 private:
  CLI::Option* option_;
};

// A command, or a word that gathers commands. A handle, valid as long as its Program.
class Verb {
 public:
  explicit Verb(CLI::App& app) : app_(&app) {}

  // A command below this one.
  Verb verb(const std::string& name, const std::string& help);
  // This word alone is no command: one of those below it must follow.
  void needs_a_verb();
  // `place` gets the value. T is a string, an integer or a double, optional or not, or a vector of
  // strings: see the end of verb.cpp.
  template <class T>
  Option option(const std::string& names, T& place, const std::string& help);
  Option flag(const std::string& names, bool& place, const std::string& help);
  // What to do when the command line names this verb.
  void runs(std::function<void()> action);

  // `redrive queue create`, as people type it.
  std::string full_name() const;

 private:
  CLI::App* app_;
};

// A whole command line.
class Program {
 public:
  Program(const std::string& name, const std::string& help, const std::string& version);
  ~Program();

  Verb root();
  // Runs the verb that the arguments (without the program's name) name. Prints the help that was
  // asked for, or the mistake and where to read more. Tells the exit code: that of the mistake (2)
  // or 0; verbs keep their own.
  int run(std::vector<std::string> arguments, std::ostream& out, std::ostream& err);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace redrive::cli
