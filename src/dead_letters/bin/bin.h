#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "core/engine/engine.h"

namespace redrive::dead_letters {

// New contents for a dead letter.
struct Edit {
  queue::MessageKey key;
  queue::BodyRef of;        // The bytes that the editor saw.
  std::string_view stored;  // The new ones, as store::message_codec lays them out.
  std::optional<queue::QueueIdentity> destination;  // Redriven there in the same step.
};

// Dead letters discarded, restored and corrected, for operators.
class Bin {
 public:
  explicit Bin(engine::Engine& engine) : engine_(engine) {}

  // Puts messages that no consumer holds into the queue's bin, or takes them back; returns how
  // many. Many are moved a few hundred at a time, each portion in one record.
  Result<std::size_t> discard(const queue::QueueIdentity& queue,
                              std::span<const queue::MessageKey> keys, const engine::Actor& by);
  Result<std::size_t> restore(const queue::QueueIdentity& queue,
                              std::span<const queue::MessageKey> keys, const engine::Actor& by);
  // Gives a message that no consumer holds new contents, and optionally redrives it, in one step.
  // The original stays in the bin, linked by its lineage.
  Result<void> edit(const queue::QueueIdentity& queue, const Edit& edit, const engine::Actor& by);
  // Records in a message's history that a handler ran on a copy of it. The reason says which code
  // ran, and how it ended.
  Result<void> note_tried(const queue::QueueIdentity& queue, queue::MessageKey key,
                          const engine::Actor& by);

 private:
  template <class MoveSome>
  Result<std::size_t> in_portions(std::span<const queue::MessageKey> keys, MoveSome move);

  engine::Engine& engine_;
};

}  // namespace redrive::dead_letters
