#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace redrive::queue {

// Counts for metrics of a queue since the server started. Plain integers, used during a turn like
// the queue itself.
//
// Not part of the state, and not durable. Counted while facts are applied, also in a replay; the
// engine resets it at start.
struct Traffic {
  std::uint64_t sent = 0;  // Accepted sends, without dead letters and redrives.
  std::uint64_t sent_bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t deleted = 0;  // Successful deletes, also of messages that were already gone.
  std::uint64_t empty_receives = 0;
  std::uint64_t deduplicated = 0;             // Sends dropped as duplicates.
  std::uint64_t dead_lettered = 0;            // Came here as dead letters.
  std::uint64_t dead_lettered_away = 0;       // Left here for a dead-letter queue.
  std::uint64_t redriven = 0;                 // Left here by a redrive.
  std::uint64_t failed_again = 0;             // Came here as dead letters after a redrive.
  std::uint64_t expired = 0;                  // Removed by retention.
  std::uint32_t sent_bytes_min = UINT32_MAX;  // Of one message, since the last reset,
  std::uint32_t sent_bytes_max = 0;           // like this.
  Timestamp active_at;                        // When the queue was last used by a request.
  bool fair = false;  // A standard queue with tenants, as seen by the collector.

  void count_sent(std::uint32_t bytes) {
    ++sent;
    sent_bytes += bytes;
    sent_bytes_min = std::min(sent_bytes_min, bytes);
    sent_bytes_max = std::max(sent_bytes_max, bytes);
  }
};

}  // namespace redrive::queue
