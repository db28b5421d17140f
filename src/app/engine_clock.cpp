#include "app/engine_clock.h"

#include <algorithm>

#include "base/calendar.h"

namespace redrive::app {

EngineClock::EngineClock(const Config& config, Timestamp journal_wall) {
  if (!config.virtual_clock) return;
  const auto start = parse_utc(config.virtual_clock_start);
  virtual_.emplace(std::max(start.value_or(system_.wall()), journal_wall));
}

engine::JumpOptions jump_options(const Config& config) {
  engine::JumpOptions options{.wait = config.clock_jump_wait};
  if (config.clock_jump == "accept" || config.virtual_clock) {
    options.policy = engine::JumpPolicy::accept;
  } else if (config.clock_jump == "ignore") {
    options.policy = engine::JumpPolicy::ignore;
  }
  return options;
}

}  // namespace redrive::app
