#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "core/queue/receipt_handle.h"
#include "core/queue/state.h"

namespace redrive::queue {

// A deletion, and where the message is until it is applied.
struct Deletion {
  MessageDeleted fact;
  Slot slot = kNoSlot;
};

// Deletes a message for the consumer that received it. Succeeds without a fact if the message is
// gone or the handle is from an earlier stay in this queue.
//
// Standard queues accept any handle issued for the message in this queue; FIFO queues only the last
// one, and only while it holds the message.
Result<std::optional<Deletion>> decide_delete(const State& state, const Queue& queue,
                                              std::string_view handle, const Stamp& stamp);
// The same for handles that never left the server.
Result<std::optional<Deletion>> decide_delete(const State& state, const Queue& queue,
                                              const ReceiptHandle& handle);

// Extends or ends the visibility timeout.
Result<VisibilityChanged> decide_change_visibility(const State& state, const Queue& queue,
                                                   std::string_view handle,
                                                   std::chrono::seconds timeout,
                                                   const Stamp& stamp);
// Returns a message that was received under isolation of retries and that no handler has seen: the
// receive does not count. For an earlier delivery this is a plain change of visibility.
Result<VisibilityChanged> decide_return(const State& state, const Queue& queue,
                                        std::string_view handle, std::chrono::seconds timeout,
                                        const Stamp& stamp);

// What a consumer wants to happen to a message whose processing failed.
enum class Disposition : std::uint8_t {
  none,         // Only report.
  retry,        // Visible again after a while.
  dead_letter,  // Do not retry.
};

struct FailureDecision {
  MessageKey key = MessageKey::none;
  std::optional<Timestamp> visible_at;
  std::optional<MessageDeadLettered> dead_lettered;
};

// The last delivery of a message failed. The handle must be of that delivery; to do more than
// report, the consumer must still hold the message.
Result<FailureDecision> decide_report_failure(const State& state, const Queue& queue,
                                              std::string_view handle, Disposition disposition,
                                              Duration retry_after, const Stamp& stamp);

// The message that the holder of this handle may move to another queue: the handle is of its last
// delivery, and on a FIFO queue it still holds it. Unlike for a delete, it is an error if the
// message has left: the move would create a copy.
Result<Slot> find_delivered(const State& state, const Queue& queue, std::string_view handle);

}  // namespace redrive::queue
