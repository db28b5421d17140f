#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/queue/state.h"

namespace redrive::queue {

struct ReceiveQuery {
  std::size_t max = 1;  // 1..kReceiveMax
  Duration visibility{};
  NameIndex by = NameIndex::none;
  std::string_view attempt_id;
  bool isolated = false;  // By a consumer that isolates retries; standard queues only.
};

// What one receive changes. A message is in at most one of the lists; when a receive attempt is
// repeated only `repeated` is set.
struct ReceiveDecision {
  MessagesReceived received;
  std::vector<MessageDeadLettered> dead_lettered;
  ReceiveRepeated repeated;
  bool in_flight_limit_reached = false;

  std::size_t delivered() const { return received.count + repeated.count; }
};

// Dead letters found by one receive are moved in portions, one in each turn, so that a queue full
// of them does not stop the others.
inline constexpr std::size_t kDeadLettersPerReceive = 500;

// Decides the fate of messages that are visible at the stamp; the queue has been advanced to it.
//
// A message this queue has delivered `receive_count_max` times goes to the dead-letter queue
// instead of to the consumer. The check is made here, on the way out, and not when a visibility
// timeout ends: a message that no consumer requests stays where operators can see it. If the
// dead-letter queue is gone the message keeps being delivered. Isolation of retries can grant more
// receives (is_spent in queue/isolation.h).
//
// Pure: equal arguments give an equal decision, and nothing has happened until it is recorded.
ReceiveDecision decide_receive(const State& state, const Queue& queue, const ReceiveQuery& query,
                               const Stamp& stamp);

// What isolation of retries requires of the consumer that received a message.
struct IsolationTerms {
  bool alone = false;  // It must be run without other messages.
  bool last = false;  // This is its last receive: if it fails now, alone, it becomes a dead letter.
};
IsolationTerms isolation_terms(const State& state, const Queue& queue, Slot slot);

// The queue that dead letters of `queue` go to, if it can take them.
const Queue* dead_letter_target(const State& state, const Queue& queue);

}  // namespace redrive::queue
