// Looking without touching.

#include "engine/engine.h"

namespace redrive::engine {
namespace {

using queue::NameIndex;
using queue::Slot;

std::string name_of(const queue::State& state, NameIndex index) {
  return index == NameIndex::none ? std::string() : state.name(index);
}

Peeked look(const queue::State& state, const queue::Queue& queue, Slot slot,
            const queue::Stamp& stamp) {
  const queue::Message& message = state.messages()[slot];
  Peeked peeked{
      .mark = state.mailbox(queue).age_of(slot),
      .body = message.body,
      .phase = message.phase,
      .visible_in = message.visible_at - stamp.now,
      .expires_wall = stamp.wall + (message.sent_at + queue.settings.retention - stamp.now),
      .receive_count = message.receive_count,
      .group = std::string(state.group_of(slot))};
  const queue::History* history = state.messages().history_if(slot);
  if (history == nullptr) return peeked;
  peeked.history = *history;
  peeked.dead_letter_source = name_of(state, history->dead_letter_source);
  peeked.origin = name_of(state, history->origin);
  for (const queue::Attempt& attempt : history->attempts) {
    peeked.consumers.push_back(name_of(state, attempt.by));
  }
  return peeked;
}

}  // namespace

Result<PeekPage> Engine::peek(const queue::QueueIdentity& identity,
                              const queue::Mailbox::AgeMark& after, std::size_t max) {
  return turn([&](Turn& turn) -> Result<PeekPage> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const queue::State& state = turn.state();
    PeekPage page{.messages = {}, .pins = BodyPins(store_), .wall = turn.stamp().wall};
    auto slots = state.mailbox(queue).page(after, max + 1);
    page.more = slots.size() > max;
    if (page.more) slots.pop_back();
    for (const Slot slot : slots) {
      page.messages.push_back(look(state, queue, slot, turn.stamp()));
      page.pins.add(page.messages.back().body);
    }
    return page;
  });
}

}  // namespace redrive::engine
