#include "dead_letters/lineage/peek.h"

#include "core/queue/hidden_queues.h"

namespace redrive::dead_letters {

using engine::Turn;
using queue::Slot;

Peeked Peek::look(Turn& turn, const queue::Queue& queue, Slot slot) const {
  return dead_letters::look(turn.state(), queue, slot, policies_.of(queue), turn.stamp());
}

PeekPage Peek::look_at(Turn& turn, const queue::Queue& queue, std::span<const Slot> slots) const {
  PeekPage page{.messages = {}, .pins = engine::BodyPins(turn.store()), .wall = turn.stamp().wall};
  for (const Slot slot : slots) {
    page.messages.push_back(look(turn, queue, slot));
    page.pins.add(page.messages.back().body);
  }
  return page;
}

PeekPage Peek::look_at_page(Turn& turn, const queue::Queue& queue, const AgeMark& after,
                            std::size_t max) const {
  auto slots = turn.state().mailbox(queue).page(after, max + 1);
  const bool more = slots.size() > max;
  if (more) slots.pop_back();
  PeekPage page = look_at(turn, queue, slots);
  page.more = more;
  return page;
}

Result<PeekPage> Peek::page(const queue::QueueIdentity& identity, const AgeMark& after,
                            std::size_t max) {
  return engine_.turn([&](Turn& turn) -> Result<PeekPage> {
    return look_at_page(turn, *TRY(turn.queue(identity)), after, max);
  });
}

PeekPage Peek::any_page(const queue::QueueIdentity& identity, const AgeMark& after,
                        std::size_t max) {
  return engine_.turn([&](Turn& turn) {
    queue::Queue* const queue = turn.find(identity);
    if (queue == nullptr) {
      return PeekPage{
          .messages = {}, .pins = engine::BodyPins(turn.store()), .wall = turn.stamp().wall};
    }
    turn.advance(*queue);
    return look_at_page(turn, *queue, after, max);
  });
}

Result<PeekPage> Peek::bin_page(const queue::QueueIdentity& identity, const AgeMark& after,
                                std::size_t max) {
  return engine_.turn([&](Turn& turn) -> Result<PeekPage> {
    TRY(turn.queue(identity));
    queue::Queue* bin = turn.find(queue::bin_of(identity));
    if (bin == nullptr) return PeekPage{.messages = {}, .pins = {}, .wall = turn.stamp().wall};
    turn.advance(*bin);
    return look_at_page(turn, *bin, after, max);
  });
}

Result<PeekPage> Peek::one(const queue::QueueIdentity& identity, queue::MessageKey key) {
  return engine_.turn([&](Turn& turn) -> Result<PeekPage> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const Slot slot = turn.state().find_message(queue, key);
    const std::size_t found = slot == queue::kNoSlot ? 0 : 1;
    return look_at(turn, queue, std::span(&slot, found));
  });
}

PeekPage Peek::by_key(queue::MessageKey key) {
  return engine_.turn([&](Turn& turn) {
    PeekPage nothing{
        .messages = {}, .pins = engine::BodyPins(turn.store()), .wall = turn.stamp().wall};
    const queue::State& state = turn.state();
    const Slot before = state.messages().find(key);
    if (before == queue::kNoSlot || state.is_buried(before)) return nothing;
    queue::Queue& queue = *turn.find(state.queue_of(before));
    turn.advance(queue);
    const Slot slot = state.find_message(queue, key);
    if (slot == queue::kNoSlot) return nothing;
    return look_at(turn, queue, std::span(&slot, 1));
  });
}

}  // namespace redrive::dead_letters
