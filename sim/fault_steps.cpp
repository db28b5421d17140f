// What time, the disk and the power do.

#include "sim/driver.h"
#include "sim/violation.h"

namespace redrive::sim {

using std::chrono::hours;
using std::chrono::minutes;

void Driver::advance_time() {
  Duration by(1);
  switch (chance_.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      break;
    case 4:
    case 5:
    case 6:
      by = Duration(chance_.between(1, 999));
      break;
    case 7:
    case 8:
    case 9:
    case 10:
      by = Duration(chance_.between(1000, 10'000));
      break;
    case 11:
    case 12:
      by = Duration(chance_.between(10'000, 120'000));
      break;
    case 13:
    case 14:
      by = Duration(minutes(chance_.between(1, 10)));
      break;
    default:
      by = chance_.one_in(8) ? Duration(hours(chance_.between(1, 100))) : Duration(minutes(chance_.between(10, 60)));
  }
  world_.clock().advance(by);
  tell("  {} ms", by.count());
  // The timer comes in time, mostly.
  if (!chance_.one_in(4) && world_.engine().armed() <= world_.now()) world_.tick();
}

void Driver::jump_wall() {
  world_.clock().jump_wall(minutes(chance_.between(-10'000, 10'000)));
}

void Driver::tick() {
  world_.tick();
}

void Driver::sync() {
  world_.sync();
}

void Driver::maintain() {
  for (std::uint64_t slices = 1 + chance_.below(6); slices > 0; --slices) world_.maintain();
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
