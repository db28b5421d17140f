#include "app/ticker.h"

#include <algorithm>
#include <cassert>

namespace redrive::app {

void Ticker::attach(engine::Engine& engine, http::Server& server) {
  {
    const MutexLock lock(mutex_);
    assert(engine_ == nullptr && server_ == nullptr);
    engine_ = &engine;
    server_ = &server;
  }
  schedule();
}

void Ticker::detach() {
  const MutexLock lock(mutex_);
  engine_ = nullptr;
  server_ = nullptr;
}

void Ticker::schedule() {
  // One lock for reading the time and setting the timer. Otherwise an earlier wake could be
  // overwritten by a later one.
  const MutexLock lock(mutex_);
  if (server_ == nullptr) return;
  engine::Engine& engine = *engine_;
  const Timestamp at = engine.armed();
  if (at == kNever) return;
  const Duration delay = std::max(Duration::zero(), at - engine.now());
  if (delay > Duration::zero() && pace_ == Pace::none) return;
  server_->wake_after(delay, [this, &engine] {
    engine.tick();
    schedule();
  });
}

}  // namespace redrive::app
