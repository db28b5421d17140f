#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "queue/receipt_handle.h"
#include "queue/state.h"

namespace redrive::queue {

// Deletes for the consumer that received. Nothing to record (but success) when the message is gone
// already or the handle is from an earlier stay in this queue.
//
// Standard queues honour any handle ever given out for the message in this queue; FIFO queues only
// the last one, and only while it holds the message.
Result<std::optional<MessageDeleted>> decide_delete(const State& state, const Queue& queue,
                                                    std::string_view handle, const Stamp& stamp);

// Holds a message longer, or lets it go.
Result<VisibilityChanged> decide_change_visibility(const State& state, const Queue& queue,
                                                   std::string_view handle,
                                                   std::chrono::seconds timeout,
                                                   const Stamp& stamp);

}  // namespace redrive::queue
