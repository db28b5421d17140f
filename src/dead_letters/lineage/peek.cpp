#include "dead_letters/lineage/peek.h"

#include <algorithm>

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

namespace {

constexpr std::size_t kPassedPerTurn = 2'000;

bool is_chosen(const queue::State& state, Slot slot, const PeekChoice& choice) {
  if (choice.phase && state.messages()[slot].phase != *choice.phase) return false;
  if (choice.group == queue::FailureGroupKey::none) return true;
  const queue::History* const history = state.messages().history_if(slot);
  return history != nullptr && history->group == choice.group;
}

// An upper bound where both a phase and a group are chosen.
std::size_t count_chosen(const queue::State& state, const queue::Queue& queue,
                         const PeekChoice& choice) {
  const queue::Mailbox& box = state.mailbox(queue);
  std::size_t count = box.size();
  if (choice.phase == queue::Phase::visible) count = box.visible();
  if (choice.phase == queue::Phase::in_flight) count = box.in_flight();
  if (choice.phase == queue::Phase::delayed) count = box.delayed();
  const queue::FailureGroup* const group = state.find_group(choice.group);
  return group == nullptr ? count : std::min<std::size_t>(count, group->count);
}

}  // namespace

PeekPage Peek::look_at_page(Turn& turn, const queue::Queue& queue, const AgeMark& after,
                            std::size_t max, const PeekChoice& choice) const {
  const queue::State& state = turn.state();
  const queue::Mailbox& box = state.mailbox(queue);
  auto slots = choice.newest_first ? box.page_before(after, max + 1) : box.page(after, max + 1);
  const bool more = slots.size() > max;
  if (more) slots.pop_back();
  const AgeMark last = slots.empty() ? after : box.age_of(slots.back());
  const std::size_t scanned = slots.size();
  std::erase_if(slots, [&](Slot slot) { return !is_chosen(state, slot, choice); });
  PeekPage page = look_at(turn, queue, slots);
  page.more = more;
  page.last = last;
  page.scanned = scanned;
  page.total = count_chosen(state, queue, choice);
  return page;
}

Result<PeekPage> Peek::page(const queue::QueueIdentity& identity, const AgeMark& after,
                            std::size_t max, const PeekChoice& choice) {
  return engine_.turn([&](Turn& turn) -> Result<PeekPage> {
    return look_at_page(turn, *TRY(turn.queue(identity)), after, max, choice);
  });
}

Peek::AgeMark Peek::start_of(bool newest_first) {
  return {Timestamp(newest_first ? INT64_MAX : INT64_MIN)};
}

bool Peek::pass(Turn& turn, const queue::Queue& queue, const PeekChoice& choice, std::size_t& left,
                AgeMark& place) const {
  const queue::State& state = turn.state();
  const queue::Mailbox& box = state.mailbox(queue);
  const std::size_t max = choice.takes_all() ? std::min(left, kPassedPerTurn) : kPassedPerTurn;
  const auto slots = choice.newest_first ? box.page_before(place, max) : box.page(place, max);
  for (const Slot slot : slots) {
    if (left == 0) return true;
    if (is_chosen(state, slot, choice)) --left;
    place = box.age_of(slot);
  }
  return slots.size() == max;
}

Result<Peek::AgeMark> Peek::place_of(const queue::QueueIdentity& identity, std::size_t position,
                                     const PeekChoice& choice,
                                     const std::function<bool()>& is_abandoned) {
  PeekChoice walked = choice;
  AgeMark place = start_of(choice.newest_first);
  std::size_t left = position;
  bool begun = false;
  while (left > 0 && !is_abandoned()) {
    const auto more = engine_.turn([&](Turn& turn) -> Result<bool> {
      const queue::Queue& queue = *TRY(turn.queue(identity));
      const std::size_t size = turn.state().mailbox(queue).size();
      // From the nearer end. The place is exclusive, so the message before the position ends it.
      if (!begun && choice.takes_all() && position > size / 2 && position <= size) {
        walked.newest_first = !choice.newest_first;
        place = start_of(walked.newest_first);
        left = size - position + 1;
      }
      begun = true;
      return pass(turn, queue, walked, left, place);
    });
    if (!TRY(more)) break;
    engine_.give_way();
  }
  return place;
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
