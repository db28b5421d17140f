#pragma once

#include "base/time.h"
#include "queue/state.h"
#include "sim/model.h"

namespace redrive::sim {

// The server's memory and the model, to be held against each other at one moment. The model has
// been advanced to it; the state need not be: what has ended by `now` counts as ended.
struct View {
  const queue::State& state;
  const Model& model;
  Timestamp now;
};

// What must hold at every step. Each throws a Violation that names it.

// Every message that was accepted and has not ended is there.
void no_message_is_lost(const View& view);
// What was deleted, purged, moved away or has expired is not there.
void nothing_gone_is_reborn(const View& view);
// Queue, phase, times, receive count, group and history of each message are exact.
void messages_are_as_they_should_be(const View& view);
// Attributes, tags and dates of each queue are those last set.
void queues_are_as_they_should_be(const View& view);
// A FIFO queue knows exactly the deduplication ids of the last five minutes.
void deduplication_windows_are_exact(const View& view);
// A FIFO queue knows exactly the receive attempts of the last five minutes.
void receive_attempts_are_remembered(const View& view);
// Status, plans, reasons and counts of each move task are exact: what it moved succeeded, failed
// again, is gone or still open, and the open ones name it.
void move_tasks_are_exact(const View& view);
// Failure groups have the members and the statistics they should, and count them right.
void groups_are_exact(const View& view);
// What a queue or a group counts of each version of consumers' code.
void codes_are_exact(const View& view, const queue::CodeUses& seen, const ModelCodeUses& expected,
                     std::string_view whose);
// What consumers reported is known in their words as long as a message refers to it, and no longer.
void archived_are_exact(const View& view);
void errors_are_exact(const View& view);
// Names, the secret and the counters ids come from are never lost.
void names_and_numbers_are_kept(const View& view);
// All of the above.
void memory_equals_the_model(const View& view);

// What must hold of queues that have been advanced to `now`.

// Visible, in flight and delayed add up to a recount of the model.
void counters_equal_a_recount(const View& view);
// A walk over what can be received finds what the model would give, FIFO groups in their order.
void walks_find_what_is_available(const View& view);

// Lists, heaps and indexes of every mailbox hold the same messages, each once.
void mailbox_structures_agree(const queue::State& state);

}  // namespace redrive::sim
