#pragma once

#include "app/config.h"
#include "base/result.h"

namespace redrive::app {

// Runs a server until SIGTERM or SIGINT, then drains it. The one place where the parts are built
// and joined.
Result<void> serve(const Config& config);

}  // namespace redrive::app
