// Jumps of the wall clock: the time that the server was away, and settings of the clock while it
// runs.

#include <fmt/format.h>

#include "base/calendar.h"
#include "core/engine/engine.h"

namespace redrive::engine {
namespace {

constexpr Duration kClockLookInterval{1000};
// The next start measures the time away from the last record: an idle server records the time now
// and then, because its idle days would otherwise look like a jump of the clock.
constexpr Duration kIdleRecordInterval = std::chrono::hours(1);
// Smaller corrections of the clock are not logged.
constexpr Duration kJumpLoggedMin = std::chrono::minutes(1);

std::string seconds_of(Duration duration) {
  return fmt::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count());
}

Notice clock_was_set(Duration by, Timestamp wall) {
  return {.weight = Notice::Weight::grave,
          .event = "the system clock was set; message timeouts and retention are not affected",
          .fields = {{"by-seconds", seconds_of(by)}, {"now", format_utc(wall)}}};
}

Notice time_was_counted(Duration away) {
  return {.weight = Notice::Weight::grave,
          .event = "the downtime now counts: messages past their retention expire",
          .fields = {{"away-seconds", seconds_of(away)}}};
}

}  // namespace

// Describes what the watch decided.
Notice Engine::away_notice() const {
  const Duration away = clock_watch_->away();
  std::string event = "according to the system clock the server was down for more than a day: ";
  if (clock_watch_->held() > Duration::zero()) {
    event +=
        "no message expires because of it until it is confirmed (`redrive clock accept`, [clock] "
        "in the configuration)";
  } else if (clock_watch_->counted() > Duration::zero()) {
    event +=
        "this time counts, and messages past their retention expire ([clock] jump = "
        "\"accept\")";
  } else {
    event += "this time does not count ([clock] jump = \"ignore\")";
  }
  return {.weight = Notice::Weight::grave,
          .event = std::move(event),
          .fields = {{"away-seconds", seconds_of(away)},
                     {"last-record", format_utc(clock_.wall() - away)},
                     {"now", format_utc(clock_.wall())}}};
}

// A clock that was set is recorded at once: the next start measures the time away from the wall
// time of the last record, and must not treat the correction as time that has passed.
void Engine::look_at_clock() {
  const Timestamp steady = clock_.steady();
  if (steady < clock_look_at_) return;
  clock_look_at_ = steady + kClockLookInterval;
  const Timestamp wall = clock_.wall();
  bool idle = false;
  const auto look = turn([&](Turn& turn) REQUIRES(mutex_) {
    idle = turn.stamp().now - store_.last_stamp().now >= kIdleRecordInterval;
    return clock_watch_->look({wall, steady});
  });
  if (look.counted > Duration::zero()) {
    move_time(look.counted);
  } else if (idle || look.jumped != Duration::zero()) {
    turn([&](Turn& turn) REQUIRES(mutex_) { turn.commit(queue::TimePassed{}); });
  }
  if (!hooks_.notice) return;
  const Duration size = look.jumped < Duration::zero() ? -look.jumped : look.jumped;
  if (size >= kJumpLoggedMin) hooks_.notice(clock_was_set(look.jumped, wall));
  if (look.counted > Duration::zero()) hooks_.notice(time_was_counted(look.counted));
}

Duration Engine::held_time() const {
  const MutexLock lock(mutex_);
  return clock_watch_->held();
}

Duration Engine::accept_held_time() {
  const Duration held = turn([&](Turn&) REQUIRES(mutex_) { return clock_watch_->accept(); });
  if (held == Duration::zero()) return held;
  move_time(held);
  if (hooks_.notice) hooks_.notice(time_was_counted(held));
  return held;
}

// Durable with the next sync, so that the time still counts after a restart.
void Engine::move_time(Duration by) {
  turn([&](Turn&) REQUIRES(mutex_) { engine_start_ = engine_start_.load() + by; });
  turn([&](Turn& turn) REQUIRES(mutex_) { turn.commit(queue::TimePassed{}); });
  if (hooks_.wake_earlier) hooks_.wake_earlier();
}

}  // namespace redrive::engine
