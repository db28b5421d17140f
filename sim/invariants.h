#pragma once

#include "base/time.h"
#include "core/queue/state.h"
#include "sim/model.h"

namespace redrive::sim {

// The server's state and the model, to be compared at one moment. The model has been advanced to
// it; the state need not be: what has ended by `now` counts as ended.
struct View {
  const queue::State& state;
  const Model& model;
  Timestamp now;
};

// Invariants that must hold at every step. Each throws a Violation with its name.

// Every accepted message that has not ended exists.
void no_message_is_lost(const View& view);
// Messages that were deleted, purged, moved away or have expired do not exist.
void nothing_gone_is_reborn(const View& view);
// Queue, phase, times, receive count, group and history of each message are exact.
void messages_are_as_they_should_be(const View& view);
// Attributes, tags and dates of each queue are those last set.
void queues_are_as_they_should_be(const View& view);
// A FIFO queue has exactly the deduplication ids of the last five minutes.
void deduplication_windows_are_exact(const View& view);
// A FIFO queue has exactly the receive attempts of the last five minutes.
void receive_attempts_are_remembered(const View& view);
// Status, plans, reasons and counts of each move task are exact: each moved message succeeded,
// failed again, is gone or still open, and the open ones refer to the task.
void move_tasks_are_exact(const View& view);
// Failure groups have the right members and statistics.
void groups_are_exact(const View& view);
// The counts of a queue or a group for each version of consumers' code.
void codes_are_exact(const View& view, const queue::CodeUses& seen, const ModelCodeUses& expected,
                     std::string_view whose);
// Reported errors are kept exactly as long as a message refers to them.
void archived_are_exact(const View& view);
void errors_are_exact(const View& view);
// Names, the secret and the id counters are never lost.
void names_and_numbers_are_kept(const View& view);
// All of the above.
void memory_equals_the_model(const View& view);

// Invariants of queues that have been advanced to `now`.

// The counts of visible, in-flight and delayed messages equal a recount of the model.
void counters_equal_a_recount(const View& view);
// A walk over the receivable messages finds what the model would return, FIFO groups in order.
void walks_find_what_is_available(const View& view);

// Lists, heaps and indexes of every mailbox contain the same messages, each once.
void mailbox_structures_agree(const queue::State& state);

}  // namespace redrive::sim
