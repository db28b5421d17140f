#include "observe/alarms/dead_letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/padded_text.h"
#include "net/wire/decoder.h"
#include "net/wire/encode.h"

namespace redrive::alarms {
namespace {

constexpr std::size_t kQueuesPerTurn = 64;
constexpr std::size_t kGroupsPerTurn = 512;

struct MemoryDocument {
  bool off = false;
  bool messages = false;
  bool flood = false;
  bool expiring = false;
  std::int64_t last_group = 0;
  std::int64_t since = 0;
};
consteval auto shape_of(MemoryDocument*) {
  using D = MemoryDocument;
  return wire::shape(wire::optional("off", &D::off),
                     wire::optional("messages", &D::messages),
                     wire::optional("flood", &D::flood),
                     wire::optional("expiring", &D::expiring),
                     wire::optional("lastGroup", &D::last_group),
                     wire::optional("since", &D::since));
}

DeadLetterReading read_queue(const queue::State& state, const queue::Queue& queue,
                             const queue::Stamp& stamp) {
  const queue::Mailbox& box = state.mailbox(queue);
  DeadLetterReading reading{.identity = queue.identity,
                            .messages = box.size(),
                            .expires_in = std::nullopt,
                            .retention = queue.settings.retention};
  if (const queue::Slot oldest = box.oldest(); oldest != queue::kNoSlot) {
    reading.expires_in = state.messages()[oldest].sent_at + queue.settings.retention - stamp.now;
  }
  return reading;
}

std::string hours(Duration time) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time).count();
  if (minutes < 120) return fmt::format("{} minutes", minutes);
  return fmt::format("{} hours", minutes / 60);
}

}  // namespace

std::string encode(const DeadLetterMemory& memory) {
  const MemoryDocument document{.off = memory.off,
                                .messages = memory.messages,
                                .flood = memory.flood,
                                .expiring = memory.expiring,
                                .last_group = static_cast<std::int64_t>(memory.last_group),
                                .since = memory.since_ms};
  std::string out;
  wire::encode_json(out, document);
  return out;
}

DeadLetterMemory decode_memory(std::string_view json) {
  const PaddedText padded(json);
  wire::Decoder decoder;
  MemoryDocument document;
  if (!wire::decode_json(decoder, padded, document)) {
    return {};
  }
  return {.off = document.off,
          .messages = document.messages,
          .flood = document.flood,
          .expiring = document.expiring,
          .last_group = static_cast<std::uint64_t>(document.last_group),
          .since_ms = document.since};
}

namespace {

// The newest group of each queue.
std::map<queue::QueueKey, queue::FailureGroupKey> youngest_groups(engine::Engine& engine) {
  std::map<queue::QueueKey, queue::FailureGroupKey> youngest;
  queue::FailureGroupKey after = queue::FailureGroupKey::none;
  while (engine.turn([&](engine::Turn& turn) {
    const auto& groups = turn.state().groups();
    auto at = groups.upper_bound(after);
    for (std::size_t i = 0; at != groups.end() && i < kGroupsPerTurn; ++at, ++i) {
      youngest[at->second.queue] = after = at->first;
    }
    return at != groups.end();
  })) {
    engine.give_way();
  }
  return youngest;
}

}  // namespace

std::vector<DeadLetterReading> read_dead_letter_queues(engine::Engine& engine) {
  std::vector<DeadLetterReading> all;
  std::vector<queue::QueueKey> keys;
  queue::QueueIdentity after;
  const auto look = [&](const queue::State& state, queue::Queue& queue, const queue::Stamp& stamp) {
    // A queue that is its own dead-letter queue dead-letters nothing, so its messages are not dead
    // letters.
    const auto& sources = state.sources_of(queue.identity.arn());
    if (sources.empty() || (sources.size() == 1 && sources.contains(queue.identity))) return;
    all.push_back(read_queue(state, queue, stamp));
    keys.push_back(queue.key);
  };
  while (engine.survey(after, kQueuesPerTurn, look)) engine.give_way();
  const auto youngest = youngest_groups(engine);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (const auto found = youngest.find(keys[i]); found != youngest.end()) {
      all[i].last_group = found->second;
    }
  }
  return all;
}

DeadLetterVerdict judge(const DeadLetterRules& rules, const DeadLetterReading& reading,
                        const DeadLetterMemory& before) {
  DeadLetterVerdict verdict{.memory = before, .tell = false, .findings = {}};
  DeadLetterMemory& now = verdict.memory;
  const Duration soon = std::min<Duration>(rules.expires_within, reading.retention / 4);
  const auto last_group = static_cast<std::uint64_t>(number(reading.last_group));
  now.messages = reading.messages > 0;
  now.flood = reading.arrivals > rules.arrivals_per_minute;
  now.expiring = reading.expires_in && *reading.expires_in < soon;
  now.last_group = std::max(before.last_group, last_group);
  if (now.messages) {
    verdict.findings.push_back(fmt::format("{} dead letter{} in {}.",
                                           reading.messages,
                                           reading.messages == 1 ? "" : "s",
                                           reading.identity.name));
  }
  if (now.messages && last_group > before.last_group) {
    verdict.findings.push_back("Some failed for a reason that has not been seen here before.");
  }
  if (now.flood) {
    verdict.findings.push_back(fmt::format("{} arrived within the last minute.", reading.arrivals));
  }
  if (now.expiring) {
    verdict.findings.push_back(fmt::format("The oldest expires in {}.",
                                           hours(std::max(Duration::zero(), *reading.expires_in))));
  }
  const bool began = (now.messages && !before.messages) || (now.flood && !before.flood) ||
                     (now.expiring && !before.expiring) ||
                     (now.messages && last_group > before.last_group);
  const bool over = before.alarming() && !now.alarming();
  verdict.tell = began || over;
  return verdict;
}

}  // namespace redrive::alarms
