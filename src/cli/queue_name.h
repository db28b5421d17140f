#pragma once

#include <string>
#include <string_view>

#include "cli/failure.h"
#include "cli/service.h"

namespace redrive::cli {

inline constexpr std::string_view kNoSuchQueue = "QueueDoesNotExist";

// The URL of a queue that people call by URL, by ARN or by name. Only a URL is taken at its word.
Answer<std::string> find_queue_url(Service& service, std::string_view named);

// The name at the end of a URL or ARN; a name is its own.
std::string_view queue_name_of(std::string_view named);

bool is_fifo_name(std::string_view name);

}  // namespace redrive::cli
