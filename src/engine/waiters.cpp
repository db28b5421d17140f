#include "engine/waiters.h"

#include "engine/engine.h"

namespace redrive::engine {

WaitId Waiters::add(queue::QueueKey queue, Timestamp deadline, ReceiveRequest request,
                    std::function<void(Result<ReceiveOutcome>)> done) {
  const WaitId id = ++last_;
  List& list = by_queue_[queue];
  list.push_back({id, queue, deadline, std::move(request), std::move(done)});
  by_id_[id] = std::prev(list.end());
  deadlines_.insert({deadline, id});
  return id;
}

std::optional<Waiters::Waiter> Waiters::take(WaitId id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  const List::iterator at = found->second;
  Waiter waiter = std::move(*at);
  deadlines_.erase({waiter.deadline, id});
  by_id_.erase(found);
  const auto list = by_queue_.find(waiter.queue);
  list->second.erase(at);
  if (list->second.empty()) by_queue_.erase(list);
  return waiter;
}

Waiters::Waiter* Waiters::first(queue::QueueKey queue) {
  const auto found = by_queue_.find(queue);
  return found == by_queue_.end() ? nullptr : &found->second.front();
}

std::optional<Waiters::Waiter> Waiters::take_due(Timestamp now) {
  if (next_deadline() > now) return std::nullopt;
  return take(deadlines_.begin()->second);
}

std::optional<Waiters::Waiter> Waiters::take_any() {
  return deadlines_.empty() ? std::nullopt : take(deadlines_.begin()->second);
}

}  // namespace redrive::engine
