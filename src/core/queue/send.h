#pragma once

#include <span>
#include <string_view>

#include "core/queue/state.h"

namespace redrive::queue {

// A message ready to be sent: checked, hashed and encoded outside the engine's turn.
struct Draft {
  std::string_view group;
  std::string_view dedup;  // FIFO: the deduplication id.
  std::string_view tail;   // See store/message_codec.h.
  std::uint32_t tail_crc = 0;
  std::optional<std::chrono::seconds> delay;
  std::uint32_t bytes = 0;  // As the sender counts them: body and attributes.
};

struct SendOutcome {
  Uuid message_id;
  std::uint64_t sequence = 0;  // FIFO.
  bool duplicate = false;      // Accepted before; nothing is stored.
};

// Decides on several messages at once, each compared with the state and with its predecessors:
// those before it, and what `changes` already contains, which may be for other queues. Appends one
// fact for each that is new. `ids` gives message ids.
void decide_send(const State& state, const Queue& queue, std::span<const Draft> drafts,
                 const Stamp& stamp, IdSource& ids, std::vector<Change>& changes,
                 std::span<SendOutcome> outcomes);

}  // namespace redrive::queue
