#pragma once

#include "base/result.h"
#include "core/queue/state.h"

// Rules for every redrive, whatever started it.
namespace redrive::queue {

// Messages move between standard queues, or between FIFO queues.
Result<void> check_same_type(const Queue& from, const Queue& to);

// A move to another queue that is not caused by the receive count.
struct Redrive {
  TaskKey task = TaskKey::none;  // The job that moves it.
  const Queue& from;
  const Queue& to;
  NameIndex actor{};
  NameIndex reason{};
};
// The move of one message; `sequence` is its place in the new queue. `message_id` is new, so that
// consumers that remember the old one do not treat it as a duplicate.
MessageRedriven decide_redrive(const Redrive& redrive, MessageKey key, const Uuid& message_id,
                               std::uint64_t sequence);

}  // namespace redrive::queue
