#include "monitor/queue_reading.h"

#include <algorithm>
#include <optional>

namespace redrive::monitor {
namespace {

constexpr std::size_t kQueuesPerTurn = 128;
constexpr std::size_t kOldestLookedAt = 16;
constexpr std::uint32_t kReceivesLeftOut = 3;
constexpr Duration kActiveFor = std::chrono::hours(6);

// When a dead letter came into the queue it is in.
std::optional<Timestamp> dead_since(const queue::History& history) {
  const auto came = [](const queue::LineageEvent& event) {
    return event.kind == queue::LineageEvent::Kind::dead_lettered;
  };
  if (history.dead_letter_source == queue::NameIndex::none) return std::nullopt;
  const auto found = std::find_if(history.events.rbegin(), history.events.rend(), came);
  if (found == history.events.rend()) return std::nullopt;
  return found->wall;
}

QueueReading look_at(const queue::State& state, queue::Queue& queue, const queue::Stamp& stamp) {
  const queue::Mailbox& box = state.mailbox(queue);
  Timestamp& active_at = queue.traffic.active_at;
  // A queue that was just made, or that the server started with, is active too.
  if (box.size() > 0 || active_at == Timestamp()) active_at = stamp.now;
  return {.identity = queue.identity,
          .key = queue.key,
          .active = stamp.now - active_at < kActiveFor,
          .visible = box.visible(),
          .not_visible = box.in_flight(),
          .delayed = box.delayed(),
          .groups_in_flight = box.is_fifo() ? box.groups_in_flight() : 0,
          .oldest_age = oldest_age(state, queue, stamp),
          .traffic = queue.traffic};
}

}  // namespace

Duration oldest_age(const queue::State& state, const queue::Queue& queue,
                    const queue::Stamp& stamp) {
  const queue::Mailbox& box = state.mailbox(queue);
  if (box.size() == 0) return Duration::zero();
  Duration oldest{0};
  for (const queue::Slot slot : box.page({}, kOldestLookedAt)) {
    const queue::Message& message = state.messages()[slot];
    const queue::History* history = state.messages().history_if(slot);
    const std::uint32_t before = history == nullptr ? 0 : history->entered_generation;
    if (!box.is_fifo() && state.generation(slot) - before >= kReceivesLeftOut) continue;
    const auto dead = history == nullptr ? std::nullopt : dead_since(*history);
    oldest = std::max(oldest, dead ? stamp.wall - *dead : stamp.now - message.sent_at);
  }
  return oldest;
}

std::vector<QueueReading> read_queues(engine::Engine& engine, Extremes extremes) {
  std::vector<QueueReading> readings;
  queue::QueueIdentity after;
  const auto look = [&](const queue::State& state, queue::Queue& queue, const queue::Stamp& stamp) {
    readings.push_back(look_at(state, queue, stamp));
    if (extremes == Extremes::keep) return;
    queue.traffic.sent_bytes_min = UINT32_MAX;
    queue.traffic.sent_bytes_max = 0;
  };
  while (engine.survey(after, kQueuesPerTurn, look)) {
  }
  return readings;
}

}  // namespace redrive::monitor
