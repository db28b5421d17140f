#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "core/queue/settings.h"

// What a dead-letter policy may say, wherever it is written: in a request or in the configuration.
namespace redrive::dead_letters {

// `park`, `discard`, `archive`.
std::optional<queue::DeadLetterPolicy::Then> then_called(std::string_view name);
std::string_view name_of(queue::DeadLetterPolicy::Then then);

// Rejects implausible numbers, an archive without a place, and redriving without end.
Result<void> check_policy(const queue::DeadLetterPolicy& policy);

}  // namespace redrive::dead_letters
