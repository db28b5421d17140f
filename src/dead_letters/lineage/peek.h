#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "core/engine/engine.h"
#include "dead_letters/policy/policy_book.h"
#include "dead_letters/view/peeked.h"

namespace redrive::dead_letters {

// Which messages of a queue are shown, and in which order.
struct PeekChoice {
  bool newest_first = false;
  std::optional<queue::Phase> phase = {};
  queue::FailureGroupKey group = queue::FailureGroupKey::none;

  bool takes_all() const { return !phase && group == queue::FailureGroupKey::none; }
};

struct PeekPage {
  std::vector<Peeked> messages;
  engine::BodyPins pins;
  bool more = false;
  Timestamp wall;
  queue::Mailbox::AgeMark last = {};  // The next page goes on behind it.
  std::size_t scanned = 0;            // Messages that the choice was made from.
  std::size_t total = 0;              // Messages that the choice takes, in all.
};

// Shows messages, in any phase, and changes nothing.
class Peek {
 public:
  using AgeMark = queue::Mailbox::AgeMark;

  Peek(engine::Engine& engine, const PolicyBook& policies) : engine_(engine), policies_(policies) {}

  // A page of a queue's messages. Of at most `max` messages behind `after` (before it, with the
  // newest first) those that the choice takes, so a page may be empty and have more behind it.
  Result<PeekPage> page(const queue::QueueIdentity& queue, const AgeMark& after, std::size_t max,
                        const PeekChoice& choice = {});
  // The place behind which a page begins with the message at `position`, counted from 0 in the
  // choice's order. Walks there in many short turns, so what comes and goes meanwhile may shift it.
  // Stops early, at an undefined place, once `is_abandoned` returns true.
  Result<AgeMark> place_of(const queue::QueueIdentity& queue, std::size_t position,
                           const PeekChoice& choice, const std::function<bool()>& is_abandoned);
  // The same for any queue, hidden or not; an empty page when there is none.
  PeekPage any_page(const queue::QueueIdentity& queue, const AgeMark& after, std::size_t max);
  // The same for what was discarded from the queue.
  Result<PeekPage> bin_page(const queue::QueueIdentity& queue, const AgeMark& after,
                            std::size_t max);
  // One message of a queue; none when it is not there.
  Result<PeekPage> one(const queue::QueueIdentity& queue, queue::MessageKey key);
  // One message wherever it is, in a hidden queue or not; none when it is gone.
  PeekPage by_key(queue::MessageKey key);

  // In turn.
  Peeked look(engine::Turn& turn, const queue::Queue& queue, queue::Slot slot) const;

  // The first place of an order.
  static AgeMark start_of(bool newest_first);

 private:
  // Passes up to `left` chosen messages in one turn, and takes them off `left`. False: no more.
  bool pass(engine::Turn& turn, const queue::Queue& queue, const PeekChoice& choice,
            std::size_t& left, AgeMark& place) const;
  PeekPage look_at(engine::Turn& turn, const queue::Queue& queue,
                   std::span<const queue::Slot> slots) const;
  PeekPage look_at_page(engine::Turn& turn, const queue::Queue& queue, const AgeMark& after,
                        std::size_t max, const PeekChoice& choice = {}) const;

  engine::Engine& engine_;
  const PolicyBook& policies_;
};

}  // namespace redrive::dead_letters
