#pragma once

#include "cli/verb.h"
#include "cli/world.h"

namespace redrive::cli {

// Adds every client verb to the program. Parsing a command line that names one runs it and leaves
// the process's exit code in `exit_code`: 0 done, 1 refused or unreachable, 2 misused.
void register_commands(Verb program, int& exit_code);
// The same in another world, which must outlive the parsing.
void register_commands(Verb program, World& world, int& exit_code);

}  // namespace redrive::cli
