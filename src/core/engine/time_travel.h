#pragma once

#include <functional>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "core/engine/engine.h"

namespace redrive::engine {

// Moves the virtual clock of an engine.
class TimeTravel {
 public:
  // Both must outlive this object, and nothing else may move the clock.
  TimeTravel(Engine& engine, VirtualClock& clock) : engine_(engine), clock_(clock) {}

  // Called while time passes, and at the end: every ten seconds of virtual time, or a few hundred
  // times during a long advance. Set before the first advance.
  void watch(std::function<void()> watcher) { watcher_ = std::move(watcher); }

  // Lets this much time pass, stopping whenever something is due, so that everything happens at its
  // own time and in order. When this returns, all of it has happened, and the new time is appended
  // to the journal: a restart does not go back before it. Thread-safe; calls run one after another.
  void advance(Duration by);

 private:
  void move(Duration by);
  Timestamp next_watch(Duration pace) const;

  Engine& engine_;
  VirtualClock& clock_;
  std::function<void()> watcher_;
  Mutex mutex_;  // Held while time moves. Taken before the engine's turn.
};

}  // namespace redrive::engine
