#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/queue/ids.h"

namespace redrive::engine {

struct ReceiveOutcome;

struct ReceiveRequest {
  std::size_t max = 1;
  std::optional<Duration> visibility;  // The queue's own when absent.
  std::string consumer;                // The consumer, for the history of attempts.
  std::string attempt_id;              // FIFO.
  bool isolated = false;               // Retries are isolated, see queue/isolation.h.
};

using WaitId = std::uint64_t;

// Receives that wait for a message, first come first served, each with its deadline. A waiting
// receive costs no CPU.
class Waiters {
 public:
  struct Waiter {
    WaitId id;
    queue::QueueKey queue;
    Timestamp deadline;
    ReceiveRequest request;
    std::function<void(Result<ReceiveOutcome>)> done;
    // Waits only until it is known that there is nothing to receive.
    bool short_poll = false;
  };

  WaitId add(queue::QueueKey queue, Timestamp deadline, ReceiveRequest request,
             std::function<void(Result<ReceiveOutcome>)> done);
  WaitId add_short_poll(queue::QueueKey queue, ReceiveRequest request,
                        std::function<void(Result<ReceiveOutcome>)> done);
  // Removes one, wherever it is in the line.
  std::optional<Waiter> take(WaitId id);
  Waiter* first(queue::QueueKey queue);
  bool any_short_poll(queue::QueueKey queue) const;
  std::optional<Waiter> take_short_poll(queue::QueueKey queue);
  // One whose deadline has come; nullptr: there is none.
  const Waiter* first_due(Timestamp now) const;
  // From now on it waits only until it is known that there is nothing.
  void make_short_poll(WaitId id);
  std::optional<Waiter> take_any();

  bool any(queue::QueueKey queue) const { return by_queue_.contains(queue); }
  Timestamp next_deadline() const {
    return deadlines_.empty() ? kNever : deadlines_.begin()->first;
  }
  std::size_t size() const { return by_id_.size(); }

 private:
  using List = std::list<Waiter>;
  std::unordered_map<queue::QueueKey, List> by_queue_;
  std::unordered_map<WaitId, List::iterator> by_id_;
  std::set<std::pair<Timestamp, WaitId>> deadlines_;
  std::set<std::pair<queue::QueueKey, WaitId>> short_polls_;
  WaitId last_ = 0;
};

}  // namespace redrive::engine
