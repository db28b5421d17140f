#pragma once

#include <span>

#include "manage/route.h"

namespace redrive::manage {

// Every route of the management API. docs/openapi.yaml has the same, and a test holds the two
// together.
std::span<const Route> routes();

}  // namespace redrive::manage
