#pragma once

#include <algorithm>

#include "core/queue/state.h"

namespace redrive::engine {

// When a message may become receivable through time alone.
inline Timestamp next_arrival(const queue::State& state, const queue::Queue& queue) {
  const queue::Mailbox& box = state.mailbox(queue);
  const queue::Slot oldest = box.is_fifo() ? box.oldest() : queue::kNoSlot;
  if (oldest == queue::kNoSlot) return box.next_visible_at();
  // In a FIFO queue the expiry of a hidden message unblocks those behind it.
  return std::min(box.next_visible_at(),
                  state.messages()[oldest].sent_at + queue.settings.retention);
}

}  // namespace redrive::engine
