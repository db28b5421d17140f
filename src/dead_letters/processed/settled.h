#pragma once

#include "core/engine/engine.h"

namespace redrive::dead_letters {

// How many messages that were processed after a redrive are kept, and for how long, so that they
// can still be found. Zero of either: none.
struct SettledLimits {
  std::size_t messages_max = 100'000;
  std::chrono::seconds retention = std::chrono::days(7);

  bool keep_any() const { return messages_max > 0 && retention > std::chrono::seconds(0); }
};

// Keeps messages that were processed after a redrive for a while: a deletion moves them into a
// queue of the server's own.
class Settled final : public engine::Extension {
 public:
  Settled(engine::Engine& engine, const SettledLimits& limits) : engine_(engine), limits_(limits) {}

  // Removes some of the messages that are more than are kept.
  bool tidy(engine::Turn& turn) override;
  void redriven_deleted(engine::Turn& turn, const queue::Queue& queue,
                        const queue::Deletion& deletion, std::uint64_t& sequence,
                        queue::Change& fact) override;

 private:
  queue::Queue& settled_for(engine::Turn& turn, const queue::QueueIdentity& identity) const;

  engine::Engine& engine_;
  const SettledLimits limits_;
  bool trim_ = true;  // There may be more than are kept. In turn.
};

}  // namespace redrive::dead_letters
