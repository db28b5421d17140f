#pragma once

#include "core/queue/error_table.h"

namespace redrive::engine {

// What is kept of the words of a consumer.
queue::ErrorText bounded(const queue::ErrorText& text);

}  // namespace redrive::engine
