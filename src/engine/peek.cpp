// Looking without touching.

#include "dead_letter/fingerprint.h"
#include "engine/engine.h"

namespace redrive::engine {
namespace {

using queue::NameIndex;
using queue::Slot;

std::string name_of(const queue::State& state, NameIndex index) {
  return index == NameIndex::none ? std::string() : state.name(index);
}

Peeked look_at_one(const queue::State& state, const queue::Queue& queue, Slot slot,
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
  if (history != nullptr) tell_history(state, *history, peeked);
  return peeked;
}

}  // namespace

void tell_history(const queue::State& state, const queue::History& history, Peeked& peeked) {
  peeked.history = history;
  peeked.dead_letter_source = name_of(state, history.dead_letter_source);
  peeked.origin = name_of(state, history.origin);
  for (const queue::Attempt& attempt : history.attempts) {
    peeked.consumers.push_back(name_of(state, attempt.by));
    peeked.deployed.push_back(state.deployed_before(attempt.by, attempt.received_wall));
    const queue::ErrorText* error = state.errors().find(attempt.error);
    peeked.errors.push_back(error == nullptr ? queue::ErrorText{} : *error);
  }
  for (const queue::LineageEvent& event : history.events) {
    const queue::MoveTask* job = state.find_task(event.job);
    peeked.events.push_back({.from = name_of(state, event.from),
                             .actor = name_of(state, event.actor),
                             .reason = name_of(state, event.reason),
                             .job = job == nullptr ? std::string() : job->id.text()});
  }
  if (const queue::FailureGroup* group = state.find_group(history.group)) {
    peeked.failure_group = dead_letter::GroupId{group->identity.id}.text();
    peeked.failed_again = history.redrives > 0 && history.former_group == history.group;
  }
}

Peeked Engine::look(const queue::Queue& queue, Slot slot, const queue::Stamp& stamp) const {
  Peeked peeked = look_at_one(store_.state(), queue, slot, stamp);
  const queue::DeadLetterPolicy* policy = policy_of(queue);
  peeked.parked = policy != nullptr && peeked.history && policy->is_spent(peeked.history->redrives);
  return peeked;
}

PeekPage Engine::look_at(const queue::Queue& queue, std::span<const Slot> slots,
                         const queue::Stamp& stamp) {
  PeekPage page{.messages = {}, .pins = BodyPins(store_), .wall = stamp.wall};
  for (const Slot slot : slots) {
    page.messages.push_back(look(queue, slot, stamp));
    page.pins.add(page.messages.back().body);
  }
  return page;
}

PeekPage Engine::look_at_page(const queue::Queue& queue, const queue::Mailbox::AgeMark& after,
                              std::size_t max, const queue::Stamp& stamp) {
  auto slots = store_.state().mailbox(queue).page(after, max + 1);
  const bool more = slots.size() > max;
  if (more) slots.pop_back();
  PeekPage page = look_at(queue, slots, stamp);
  page.more = more;
  return page;
}

Result<PeekPage> Engine::peek(const queue::QueueIdentity& identity,
                              const queue::Mailbox::AgeMark& after, std::size_t max) {
  return turn([&](Turn& turn) -> Result<PeekPage> {
    return look_at_page(*TRY(turn.queue(identity)), after, max, turn.stamp());
  });
}

Result<PeekPage> Engine::peek_bin(const queue::QueueIdentity& identity,
                                  const queue::Mailbox::AgeMark& after, std::size_t max) {
  return turn([&](Turn& turn) -> Result<PeekPage> {
    TRY(turn.queue(identity));
    queue::Queue* bin = store_.state().find(bin_of(identity));
    if (bin == nullptr) return PeekPage{.messages = {}, .pins = {}, .wall = turn.stamp().wall};
    turn.advance(*bin);
    return look_at_page(*bin, after, max, turn.stamp());
  });
}

Result<PeekPage> Engine::peek_one(const queue::QueueIdentity& identity, queue::MessageKey key) {
  return turn([&](Turn& turn) -> Result<PeekPage> {
    const queue::Queue& queue = *TRY(turn.queue(identity));
    const Slot slot = turn.state().find_message(queue, key);
    const std::size_t found = slot == queue::kNoSlot ? 0 : 1;
    return look_at(queue, std::span(&slot, found), turn.stamp());
  });
}

}  // namespace redrive::engine
