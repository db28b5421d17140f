#pragma once

#include <span>

#include "manage/route.h"

namespace redrive::manage {

// Every route of the management API. docs/openapi.yaml has the same routes; a test compares them.
std::span<const Route> routes();

}  // namespace redrive::manage
