#pragma once

#include <iosfwd>

#include "cli/world.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace redrive::cli {

// Adds every client verb to `app`. Parsing a command line that names one runs it and leaves the
// process's exit code in `exit_code`: 0 done, 1 refused or unreachable, 2 misused.
void register_commands(CLI::App& app, int& exit_code);
// The same in another world, which must outlive the parsing.
void register_commands(CLI::App& app, World& world, int& exit_code);

// What to do when parsing failed: prints the help that was asked for (0), or the mistake and where
// to read more (2).
int report_parse_error(const CLI::App& app, const CLI::ParseError& error, std::ostream& out,
                       std::ostream& err);

}  // namespace redrive::cli
