#pragma once

#include "cli/client/verb.h"
#include "cli/client/world.h"

namespace redrive::cli {

// Adds every client command to the program. Parsing a command line runs the command and stores the
// exit code in `exit_code`: 0 done, 1 refused or unreachable, 2 usage error.
void register_commands(Verb program, int& exit_code);
// The same with other dependencies, which must outlive the parsing.
void register_commands(Verb program, World& world, int& exit_code);

}  // namespace redrive::cli
