#pragma once

#include "core/queue/error_table.h"

namespace redrive::engine {

// Cuts a failure report to what is stored.
queue::ErrorText bounded(const queue::ErrorText& text);

}  // namespace redrive::engine
