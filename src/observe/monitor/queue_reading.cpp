#include "observe/monitor/queue_reading.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace redrive::monitor {
namespace {

constexpr std::size_t kQueuesPerTurn = 64;
constexpr std::size_t kOldestLookedAt = 16;
constexpr std::uint32_t kReceivesLeftOut = 3;
constexpr Duration kActiveFor = std::chrono::hours(6);

// When a dead letter entered its queue.
std::optional<Timestamp> dead_since(const queue::History& history) {
  const auto came = [](const queue::LineageEvent& event) {
    return event.kind == queue::LineageEvent::Kind::dead_lettered;
  };
  if (history.dead_letter_source == queue::NameIndex::none) return std::nullopt;
  const auto found = std::find_if(history.events.rbegin(), history.events.rend(), came);
  if (found == history.events.rend()) return std::nullopt;
  return found->wall;
}

// How long a message has been in its queue.
Duration age_of(const queue::State& state, queue::Slot slot, const queue::Stamp& stamp) {
  const queue::History* const history = state.messages().history_if(slot);
  const auto dead = history == nullptr ? std::nullopt : dead_since(*history);
  return dead ? stamp.wall - *dead : stamp.now - state.messages()[slot].sent_at;
}

// Received so often that its age says nothing about the consumers' lag.
bool is_poison(const queue::State& state, queue::Slot slot) {
  const queue::History* const history = state.messages().history_if(slot);
  const std::uint32_t before = history == nullptr ? 0 : history->entered_generation;
  return state.generation(slot) - before >= kReceivesLeftOut;
}

// If the oldest messages all belong to noisy tenants, the quiet message to be served next is used.
Duration oldest_quiet_age(const queue::State& state, const queue::Mailbox& box,
                          const queue::Stamp& stamp) {
  Duration oldest{0};
  for (const queue::Slot slot : box.page({}, kOldestLookedAt)) {
    if (box.is_noisy(state.messages()[slot].group) || is_poison(state, slot)) continue;
    oldest = std::max(oldest, age_of(state, slot, stamp));
  }
  const queue::Slot first = box.first_quiet();
  if (first == queue::kNoSlot || is_poison(state, first)) return oldest;
  return std::max(oldest, age_of(state, first, stamp));
}

QueueReading::Fair look_at_tenants(const queue::State& state, const queue::Mailbox& box,
                                   const queue::Stamp& stamp) {
  const queue::Mailbox::NoisyGroups noisy = box.noisy_groups();
  return {.noisy_groups = noisy.groups,
          .visible = box.visible() - noisy.visible,
          .not_visible = box.in_flight() - noisy.in_flight,
          .delayed = box.delayed() - noisy.delayed,
          .oldest_age = oldest_quiet_age(state, box, stamp)};
}

QueueReading look_at(const queue::State& state, queue::Queue& queue, const queue::Stamp& stamp) {
  const queue::Mailbox& box = state.mailbox(queue);
  Timestamp& active_at = queue.traffic.active_at;
  // A new queue, or one that existed at start, is active too.
  if (box.size() > 0 || active_at == Timestamp()) active_at = stamp.now;
  queue.traffic.fair = queue.traffic.fair || (!box.is_fifo() && box.groups() > 0);
  QueueReading reading{.identity = queue.identity,
                       .key = queue.key,
                       .active = stamp.now - active_at < kActiveFor,
                       .visible = box.visible(),
                       .not_visible = box.in_flight(),
                       .delayed = box.delayed(),
                       .groups_in_flight = box.is_fifo() ? box.groups_in_flight() : 0,
                       .oldest_age = oldest_age(state, queue, stamp),
                       .fair = {},
                       .traffic = queue.traffic};
  if (queue.traffic.fair) reading.fair = look_at_tenants(state, box, stamp);
  return reading;
}

}  // namespace

Duration oldest_age(const queue::State& state, const queue::Queue& queue,
                    const queue::Stamp& stamp) {
  const queue::Mailbox& box = state.mailbox(queue);
  if (box.size() == 0) return Duration::zero();
  Duration oldest{0};
  for (const queue::Slot slot : box.page({}, kOldestLookedAt)) {
    if (!box.is_fifo() && is_poison(state, slot)) continue;
    oldest = std::max(oldest, age_of(state, slot, stamp));
  }
  return oldest;
}

std::vector<QueueReading> read_queues(engine::Engine& engine, Extremes extremes) {
  std::vector<QueueReading> readings;
  // Per turn: growing the full vector takes longer than a turn may.
  std::vector<QueueReading> some;
  some.reserve(kQueuesPerTurn);
  queue::QueueIdentity after;
  const auto look = [&](const queue::State& state, queue::Queue& queue, const queue::Stamp& stamp) {
    some.push_back(look_at(state, queue, stamp));
    if (extremes == Extremes::keep) return;
    queue.traffic.sent_bytes_min = UINT32_MAX;
    queue.traffic.sent_bytes_max = 0;
  };
  for (bool more = true; more;) {
    more = engine.survey(after, kQueuesPerTurn, look);
    std::ranges::move(some, std::back_inserter(readings));
    some.clear();
    if (more) engine.give_way();
  }
  return readings;
}

}  // namespace redrive::monitor
