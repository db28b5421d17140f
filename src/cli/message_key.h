#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/session.h"

namespace redrive::cli {

// The key of a message in a queue that people call by its key, its MessageId or its lineage id.
Answer<std::int64_t> find_message_key(Session& session, const std::string& queue,
                                      std::string_view called);

}  // namespace redrive::cli
