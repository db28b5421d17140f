#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace redrive::queue {

// What happened in a queue since the server started, for those who measure it. Plain integers: like
// the queue they belong to whoever has the turn.
//
// It is no part of the state and survives nothing. What facts tell is counted while they are
// applied, in a replay too; the engine forgets that before it begins.
struct Traffic {
  std::uint64_t sent = 0;  // Accepted sends; what came as a dead letter or a redrive is not one.
  std::uint64_t sent_bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t deleted = 0;  // Successful deletes, also of what was gone already.
  std::uint64_t empty_receives = 0;
  std::uint64_t deduplicated = 0;             // Sends dropped as duplicates.
  std::uint64_t dead_lettered = 0;            // Came here as dead letters.
  std::uint64_t dead_lettered_away = 0;       // Left here for a dead-letter queue.
  std::uint64_t redriven = 0;                 // Left here by a redrive.
  std::uint64_t failed_again = 0;             // Came here as dead letters after a redrive.
  std::uint64_t expired = 0;                  // Gone by retention.
  std::uint32_t sent_bytes_min = UINT32_MAX;  // Of one message; of all since this was last reset,
  std::uint32_t sent_bytes_max = 0;           // like this.
  Timestamp active_at;                        // When somebody last asked for the queue.
  bool fair = false;  // A standard queue in which whoever measures has seen tenants.

  void count_sent(std::uint32_t bytes) {
    ++sent;
    sent_bytes += bytes;
    sent_bytes_min = std::min(sent_bytes_min, bytes);
    sent_bytes_max = std::max(sent_bytes_max, bytes);
  }
};

}  // namespace redrive::queue
