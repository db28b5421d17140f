#pragma once

#include "cli/client/verb.h"

namespace redrive::app {

// `redrive journal check` and `redrive journal repair`.
void add_journal_tools(cli::Verb program, int& exit_code);

}  // namespace redrive::app
