#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine/engine.h"
#include "core/queue/traffic.h"

namespace redrive::monitor {

// The metrics of a queue at one moment.
struct QueueReading {
  queue::QueueIdentity identity;
  queue::QueueKey key;
  bool active = false;  // Used, or not empty, within the last six hours.
  std::uint64_t visible = 0;
  std::uint64_t not_visible = 0;
  std::uint64_t delayed = 0;
  std::uint64_t groups_in_flight = 0;  // FIFO queues only.
  Duration oldest_age{0};
  // For standard queues whose messages have groups: tenants that use more than their share, and the
  // messages of all other tenants.
  struct Fair {
    std::uint64_t noisy_groups = 0;
    std::uint64_t visible = 0;
    std::uint64_t not_visible = 0;
    std::uint64_t delayed = 0;
    Duration oldest_age{0};
  };
  std::optional<Fair> fair;
  queue::Traffic traffic;
};

// CloudWatch's age of a queue: how long its oldest message has been there; in a dead-letter queue,
// since it was dead-lettered. In a standard queue, messages received three times or more are
// ignored. Examines only a few of the oldest.
Duration oldest_age(const queue::State& state, const queue::Queue& queue,
                    const queue::Stamp& stamp);

// All queues of the server, a few per turn. Extremes of sizes are reset on request.
enum class Extremes : std::uint8_t { keep, reset };
std::vector<QueueReading> read_queues(engine::Engine& engine, Extremes extremes);

}  // namespace redrive::monitor
