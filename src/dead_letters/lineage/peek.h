#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "core/engine/engine.h"
#include "dead_letters/policy/policy_book.h"
#include "dead_letters/view/peeked.h"

namespace redrive::dead_letters {

struct PeekPage {
  std::vector<Peeked> messages;
  engine::BodyPins pins;
  bool more = false;
  Timestamp wall;
};

// Shows messages, in any phase, and changes nothing.
class Peek {
 public:
  using AgeMark = queue::Mailbox::AgeMark;

  Peek(engine::Engine& engine, const PolicyBook& policies) : engine_(engine), policies_(policies) {}

  // A page of a queue's messages, oldest first.
  Result<PeekPage> page(const queue::QueueIdentity& queue, const AgeMark& after, std::size_t max);
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

 private:
  PeekPage look_at(engine::Turn& turn, const queue::Queue& queue,
                   std::span<const queue::Slot> slots) const;
  PeekPage look_at_page(engine::Turn& turn, const queue::Queue& queue, const AgeMark& after,
                        std::size_t max) const;

  engine::Engine& engine_;
  const PolicyBook& policies_;
};

}  // namespace redrive::dead_letters
