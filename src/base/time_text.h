#pragma once

#include <string>

#include "base/time.h"

namespace redrive {

// Wall time as people and tools read it: 2026-01-31T23:59:59.999Z.
std::string iso_time(Timestamp wall);

}  // namespace redrive
