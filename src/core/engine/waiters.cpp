#include "core/engine/waiters.h"

#include "core/engine/engine.h"

namespace redrive::engine {

WaitId Waiters::add(queue::QueueKey queue, Timestamp deadline, ReceiveRequest request,
                    std::function<void(Result<ReceiveOutcome>)> done) {
  const WaitId id = ++last_;
  List& list = by_queue_[queue];
  list.push_back({.id = id,
                  .queue = queue,
                  .deadline = deadline,
                  .request = std::move(request),
                  .done = std::move(done)});
  by_id_[id] = std::prev(list.end());
  deadlines_.insert({deadline, id});
  return id;
}

WaitId Waiters::add_short_poll(queue::QueueKey queue, ReceiveRequest request,
                               std::function<void(Result<ReceiveOutcome>)> done) {
  const WaitId id = add(queue, kNever, std::move(request), std::move(done));
  make_short_poll(id);
  return id;
}

void Waiters::make_short_poll(WaitId id) {
  Waiter& waiter = *by_id_.at(id);
  deadlines_.erase({waiter.deadline, id});
  waiter.deadline = kNever;
  deadlines_.insert({kNever, id});
  waiter.short_poll = true;
  short_polls_.insert({waiter.queue, id});
}

bool Waiters::any_short_poll(queue::QueueKey queue) const {
  const auto found = short_polls_.lower_bound({queue, WaitId{0}});
  return found != short_polls_.end() && found->first == queue;
}

std::optional<Waiters::Waiter> Waiters::take_short_poll(queue::QueueKey queue) {
  const auto found = short_polls_.lower_bound({queue, WaitId{0}});
  if (found == short_polls_.end() || found->first != queue) return std::nullopt;
  return take(found->second);
}

std::optional<Waiters::Waiter> Waiters::take(WaitId id) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return std::nullopt;
  const List::iterator at = found->second;
  Waiter waiter = std::move(*at);
  deadlines_.erase({waiter.deadline, id});
  if (waiter.short_poll) short_polls_.erase({waiter.queue, id});
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

const Waiters::Waiter* Waiters::first_due(Timestamp now) const {
  return next_deadline() > now ? nullptr : &*by_id_.at(deadlines_.begin()->second);
}

std::optional<Waiters::Waiter> Waiters::take_any() {
  return deadlines_.empty() ? std::nullopt : take(deadlines_.begin()->second);
}

}  // namespace redrive::engine
