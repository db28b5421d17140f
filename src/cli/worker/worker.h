#pragma once

#include "cli/client/command.h"

namespace redrive::cli {

// Adds `redrive worker`.
void add_worker(Verb parent, Commands& commands);

}  // namespace redrive::cli
