#pragma once

#include "cli/client/command.h"

namespace redrive::cli {

// Adds `redrive apply`.
void add_apply(Verb parent, Commands& commands);

}  // namespace redrive::cli
