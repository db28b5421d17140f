#pragma once

#include "cli/verb.h"

namespace redrive::server {

// `redrive journal check` and `redrive journal repair`.
void add_journal_tools(cli::Verb program, int& exit_code);

}  // namespace redrive::server
