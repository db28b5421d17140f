#pragma once

#include <string>

#include "core/journal/inspection.h"

namespace redrive::journal {

// Sentences shared by check and repair.
std::string describe(const Damage& damage);
std::string describe_lost_end(const Inspection& found);

}  // namespace redrive::journal
