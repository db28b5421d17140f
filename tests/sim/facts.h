#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/queue/state.h"
#include "sim/model.h"
#include "sim/violation.h"

// Shared by the simulator's tests: facts without a server.
namespace redrive::sim {

inline constexpr Timestamp kNoon{1'000'000};
inline constexpr auto kQueue = static_cast<queue::QueueKey>(1);
inline constexpr auto kOther = static_cast<queue::QueueKey>(2);
inline constexpr auto kTask = static_cast<queue::TaskKey>(1);

inline queue::MessageKey message(std::uint64_t key) {
  return static_cast<queue::MessageKey>(key);
}

inline queue::QueueIdentity named(std::string name) {
  return {.account = "000000000000", .region = "us-east-1", .name = std::move(name)};
}

inline Record record_of(std::vector<queue::Change> facts, Timestamp now = kNoon) {
  Record record;
  record.stamp = {.now = now, .wall = now};
  record.payload = std::make_shared<const std::string>();
  record.facts = std::move(facts);
  return record;
}

// Two queues; the second is the dead-letter queue of the first after one receive.
enum class Kind { standard, fifo };

inline Record two_queues(Kind kind) {
  static const std::string kArns[] = {named("a.fifo").arn(), named("b.fifo").arn()};
  queue::QueueSettings settings;
  if (kind == Kind::fifo) settings.fifo.emplace();
  queue::QueueSettings redriving = settings;
  redriving.redrive = {.target_arn = kArns[1], .receive_count_max = 1};
  const auto first = static_cast<queue::NameIndex>(1);
  const auto second = static_cast<queue::NameIndex>(2);
  return record_of({queue::ServerStarted{},
                    queue::NameLearned{first, kArns[0]},
                    queue::NameLearned{second, kArns[1]},
                    queue::QueueCreated{kQueue, first, named("a.fifo"), redriving, {}},
                    queue::QueueCreated{kOther, second, named("b.fifo"), settings, {}}});
}

inline queue::MessageSent sent(std::uint64_t key, std::string_view group = {},
                               std::string_view dedup = {}) {
  queue::MessageSent fact{};
  fact.queue = kQueue;
  fact.key = message(key);
  fact.visible_at = kNoon;
  fact.group = group;
  fact.dedup = dedup;
  return fact;
}

inline queue::MessagesReceived received(std::vector<std::uint64_t> keys,
                                        Duration timeout = Duration(30'000)) {
  queue::MessagesReceived fact{};
  fact.queue = kQueue;
  fact.visible_at = kNoon + timeout;
  for (const std::uint64_t key : keys) fact.keys[fact.count++] = message(key);
  return fact;
}

// The invariant that `work` violates; empty if none.
inline std::string broken_by(const std::function<void()>& work) {
  try {
    work();
  } catch (const Violation& violation) {
    return violation.invariant;
  }
  return "";
}

}  // namespace redrive::sim
