#pragma once

#include "base/result.h"
#include "server/config.h"

namespace redrive::server {

// Runs a server until SIGTERM or SIGINT, then drains it. The one place where the parts are built
// and joined.
Result<void> serve(const Config& config);

}  // namespace redrive::server
