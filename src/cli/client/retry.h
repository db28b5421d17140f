#pragma once

#include "base/backoff.h"

namespace redrive::cli {

using redrive::Backoff;

}  // namespace redrive::cli
