#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/engine.h"
#include "queue/traffic.h"

namespace redrive::monitor {

// What is to be told of a queue at one moment.
struct QueueReading {
  queue::QueueIdentity identity;
  queue::QueueKey key;
  bool active = false;  // Somebody asked for it or it held messages within the last six hours.
  std::uint64_t visible = 0;
  std::uint64_t not_visible = 0;
  std::uint64_t delayed = 0;
  std::uint64_t groups_in_flight = 0;  // Of FIFO queues.
  Duration oldest_age{0};
  // Of standard queues whose messages have groups: tenants that hold too much, and the messages of
  // all others.
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

// The age that CloudWatch tells of a queue: how long its oldest message has been there, in a
// dead-letter queue since it came as a dead letter. In a standard queue messages that were received
// three times or more are left out. Looks at a few of the oldest only.
Duration oldest_age(const queue::State& state, const queue::Queue& queue,
                    const queue::Stamp& stamp);

// Every queue of the server, a few in each turn. Extremes of sizes begin anew when asked to.
enum class Extremes : std::uint8_t { keep, reset };
std::vector<QueueReading> read_queues(engine::Engine& engine, Extremes extremes);

}  // namespace redrive::monitor
