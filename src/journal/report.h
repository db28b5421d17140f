#pragma once

#include <string>

#include "journal/inspection.h"

namespace redrive::journal {

// Sentences that check and repair share.
std::string describe(const Damage& damage);
std::string describe_lost_end(const Inspection& found);

}  // namespace redrive::journal
