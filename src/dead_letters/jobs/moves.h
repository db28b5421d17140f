#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/engine/engine.h"

namespace redrive::dead_letters {

// A message that a receipt handle refers to.
struct Delivered {
  queue::MessageKey key{};
  queue::BodyRef body;
  std::string dead_letter_source;  // ARN, or empty.
};
struct DeliveredMessages {
  std::vector<Result<Delivered>> messages;  // One for each handle.
  engine::BodyPins pins;
};

// A delivered message on its way into another queue.
struct Move {
  std::string_view handle;
  queue::QueueIdentity destination;
  queue::BodyRef of;        // The bytes that the consumer saw.
  std::string_view stored;  // New contents, as store::message_codec lays them out; empty: as is.
  std::chrono::seconds delay{0};
};

// Messages moved to another queue by the consumers that received them.
class Moves {
 public:
  explicit Moves(engine::Engine& engine) : engine_(engine) {}

  // What receipt handles refer to.
  Result<DeliveredMessages> delivered(const queue::QueueIdentity& queue,
                                      std::span<const std::string_view> handles);
  // Each message leaves this queue and enters the other in one step, optionally with new contents,
  // and keeps its lineage, as with a redrive. Returns the new message ids.
  Result<std::vector<Result<Uuid>>> move(const queue::QueueIdentity& queue,
                                         std::span<const Move> moves, const engine::Actor& by);

 private:
  engine::Engine& engine_;
};

}  // namespace redrive::dead_letters
