#pragma once

#include "base/mutex.h"
#include "core/engine/engine.h"
#include "net/http/server.h"

namespace redrive::app {

// Ticks the engine when its next timer is due, by the timer of the HTTP server. From any thread.
class Ticker {
 public:
  // None: only what is due at once; engine::TimeTravel does what is due later.
  enum class Pace { real, none };
  explicit Ticker(Pace pace) : pace_(pace) {}
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  // Before attach() and after detach() nothing is scheduled.
  void attach(engine::Engine& engine, http::Server& server);
  void detach();
  // For engine::Engine::Hooks::wake_earlier.
  void schedule();

 private:
  const Pace pace_;
  Mutex mutex_;
  engine::Engine* engine_ GUARDED_BY(mutex_) = nullptr;  // Both are set, or none.
  http::Server* server_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace redrive::app
