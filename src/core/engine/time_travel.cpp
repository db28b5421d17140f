#include "core/engine/time_travel.h"

#include <algorithm>
#include <cassert>

namespace redrive::engine {
namespace {

constexpr Duration kPaceShortest = std::chrono::seconds(10);
constexpr Duration kShortTime = std::chrono::minutes(20);
constexpr std::int64_t kWatchesMax = 256;

Duration pace_for(Duration by) {
  if (by <= kShortTime) return kPaceShortest;
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(by / kWatchesMax);
  return std::max<Duration>(std::chrono::minutes(1), minutes);
}

}  // namespace

Timestamp TimeTravel::next_watch(Duration pace) const {
  if (!watcher_) return kNever;
  return Timestamp((engine_.now().ms() / pace.count() + 1) * pace.count());
}

void TimeTravel::advance(Duration by) {
  assert(by >= Duration::zero());
  const MutexLock lock(mutex_);
  const Timestamp end = engine_.now() + by;
  Timestamp watch_at = next_watch(pace_for(by));
  while (true) {
    const Timestamp next = std::min(engine_.armed(), watch_at);
    if (next > end) break;
    move(std::max(Duration::zero(), next - engine_.now()));
    engine_.tick();
    if (engine_.now() < watch_at) continue;
    watcher_();
    watch_at = next_watch(pace_for(by));
  }
  move(end - engine_.now());
  engine_.settle();
  if (watcher_) watcher_();
}

// In turn, so that no stamp mixes times from before and after the move.
void TimeTravel::move(Duration by) {
  engine_.turn([&](Turn&) { clock_.advance(by); });
}

}  // namespace redrive::engine
