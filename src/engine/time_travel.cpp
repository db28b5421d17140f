#include "engine/time_travel.h"

#include <algorithm>
#include <cassert>

namespace redrive::engine {

void TimeTravel::advance(Duration by) {
  assert(by >= Duration::zero());
  const std::lock_guard lock(mutex_);
  const Timestamp end = engine_.now() + by;
  for (Timestamp due = engine_.armed(); due <= end; due = engine_.armed()) {
    move(std::max(Duration::zero(), due - engine_.now()));
    engine_.tick();
  }
  move(end - engine_.now());
  engine_.settle();
}

// In turn, so that no stamp has one hand of the clock before the move and the other after it.
void TimeTravel::move(Duration by) {
  engine_.turn([&](Turn&) { clock_.advance(by); });
}

}  // namespace redrive::engine
