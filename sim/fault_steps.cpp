// Time, disk and power.

#include <algorithm>

#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {

using std::chrono::hours;
using std::chrono::minutes;

// Time until something ends, plus or minus a millisecond: rules fail at their boundaries.
std::optional<Duration> Driver::choose_edge() {
  const Model& model = world_.model();
  std::vector<Timestamp> ends;
  for (const auto& [key, message] : model.messages()) {
    ends.push_back(message.visible_at);
    ends.push_back(message.sent_at + model.queues().at(message.queue).settings.retention);
  }
  for (const auto& [key, queue] : model.queues()) {
    for (const auto& [id, entry] : queue.dedup) ends.push_back(entry.expires);
    for (const auto& [id, attempt] : queue.attempts) ends.push_back(attempt.expires);
  }
  for (const Waiter& waiter : world_.waiters()) ends.push_back(waiter.deadline);
  const Timestamp now = world_.now();
  std::erase_if(ends, [&](Timestamp end) { return end <= now || end > now + hours(1); });
  if (ends.empty()) return std::nullopt;
  return std::max(Duration::zero(), chance_.pick(ends) - now + Duration(chance_.between(-1, 1)));
}

Duration Driver::choose_stretch() {
  struct Stretch {
    std::uint64_t weight;
    Duration least;
    Duration most;
  };
  static constexpr Stretch kStretches[] = {
      {32, Duration(1), Duration(1)},
      {24, Duration(1), Duration(999)},
      {32, Duration(1000), Duration(10'000)},
      {16, Duration(10'000), Duration(120'000)},
      {16, minutes(1), minutes(10)},
      {7, minutes(10), minutes(60)},
      {1, hours(1), hours(100)},
  };
  std::uint64_t at = chance_.below(128);
  const Stretch* stretch = kStretches;
  while (at >= stretch->weight) at -= (stretch++)->weight;
  return Duration(chance_.between(stretch->least.count(), stretch->most.count()));
}

void Driver::advance_time() {
  const std::optional<Duration> edge = chance_.one_in(3) ? choose_edge() : std::nullopt;
  const Duration by = edge ? *edge : choose_stretch();
  world_.clock().advance(by);
  tell("  {} ms", by.count());
  // The timer is usually on time.
  if (!chance_.one_in(4) && world_.engine().armed() <= world_.now()) world_.tick();
}

void Driver::jump_wall() {
  world_.clock().jump_wall(minutes(chance_.between(-10'000, 10'000)));
}

void Driver::tick() {
  world_.tick();
}

// While the disk works, the server continues: what is appended meanwhile is not in this sync.
void Driver::sync() {
  if (!chance_.one_in(2)) return world_.sync();
  world_.sync([this] {
    static constexpr Step kSteps[] = {&Driver::send,
                                      &Driver::send,
                                      &Driver::send_together,
                                      &Driver::receive,
                                      &Driver::remove,
                                      &Driver::change_visibility,
                                      &Driver::report_failure,
                                      &Driver::edit,
                                      &Driver::move_held,
                                      &Driver::tick};
    for (std::uint64_t steps = 1 + chance_.below(3); steps > 0; --steps) {
      (this->*chance_.pick(kSteps))();
    }
  });
}

// Messages are edited while they are relocated or archived.
void Driver::maintain() {
  std::function<void(queue::MessageKey)> meanwhile;
  if (chance_.one_in(2)) {
    meanwhile = [this](queue::MessageKey key) {
      const auto found = world_.model().messages().find(key);
      if (found == world_.model().messages().end() || !chance_.one_in(2)) return;
      if (!identity_of(found->second.queue).is_hidden()) edit_message(found->second.queue, key);
    };
  }
  for (std::uint64_t slices = 1 + chance_.below(6); slices > 0; --slices) {
    world_.maintain(meanwhile);
  }
}

void Driver::housekeep() {
  for (std::uint64_t chores = 1 + chance_.below(3); chores > 0; --chores) world_.housekeep();
}

void Driver::read_replies() {
  world_.read_held_replies();
}

void Driver::replay_elsewhere() {
  world_.replay_elsewhere();
}

void Driver::crash() {
  world_.end(Ending::power_lost);
}

void Driver::restart() {
  world_.end(Ending::clean);
}

void Driver::kill() {
  world_.end(Ending::killed);
}

// In the middle of some later operation.
void Driver::break_later() {
  if (chance_.one_in(3)) {
    world_.fail_sync_later(chance_.below(4));
  } else {
    world_.fail_later(chance_.below(60));
  }
}

void Driver::fill_disk() {
  world_.limit_space(chance_.below(world_.shape().segment_bytes * std::uint64_t{3}));
}

void Driver::empty_disk() {
  world_.limit_space(std::nullopt);
}

}  // namespace redrive::sim
