#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/client/session.h"

namespace redrive::cli {

// The key of a message given by its key, its MessageId or its lineage id.
Answer<std::int64_t> find_message_key(Session& session, const std::string& queue,
                                      std::string_view called);

}  // namespace redrive::cli
