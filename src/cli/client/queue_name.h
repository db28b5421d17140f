#pragma once

#include <string>
#include <string_view>

#include "cli/client/failure.h"
#include "cli/client/service.h"

namespace redrive::cli {

inline constexpr std::string_view kNoSuchQueue = "QueueDoesNotExist";

// The URL of a queue given by URL, ARN or name. A URL is not verified.
Answer<std::string> find_queue_url(Service& service, std::string_view named);

// The name at the end of a URL or ARN; a name is returned as it is.
std::string_view queue_name_of(std::string_view named);

bool is_fifo_name(std::string_view name);

}  // namespace redrive::cli
