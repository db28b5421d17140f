#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/journal/journal.h"
#include "core/queue/ids.h"
#include "core/queue/message_table.h"

namespace redrive::store {

// For `redrive journal check`: reads the stored bytes of every live message and reports the damaged
// ones. Read-only. Fails if the journal cannot be replayed.
Result<journal::CheckReport> check_messages(journal::Files& files);

// A message whose stored bytes are not what was written.
struct DamagedBytes {
  queue::MessageKey key{};
  queue::BodyRef body;
  std::string error;
};
// All messages, and the damaged ones among them.
struct FoundMessages {
  std::set<queue::MessageKey> all;
  std::vector<DamagedBytes> damaged;
};
Result<FoundMessages> find_messages(journal::Files& files);

// For `redrive journal repair`: missing segments that contain live messages, which prevent the
// server from starting.
Result<std::set<std::uint32_t>> missing_segments(journal::Files& files);

}  // namespace redrive::store
