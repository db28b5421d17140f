#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "base/clock.h"
#include "core/engine/engine.h"

namespace redrive::engine {

// Moves the clock of an engine for which time stands still.
class TimeTravel {
 public:
  // Both must outlive this; nobody else moves the clock.
  TimeTravel(Engine& engine, VirtualClock& clock) : engine_(engine), clock_(clock) {}

  // Called now and then while time passes, and when it has passed: every ten seconds, or, when it
  // is a long time, some hundred times on the way. Set before the first advance.
  void watch(std::function<void()> watcher) { watcher_ = std::move(watcher); }

  // Lets so much time pass, stopping at every moment at which something is due, so that each thing
  // happens at its own time and in its order. When this returns all of it has happened, and the new
  // time is on its way into the journal: a restart does not go back behind it. From any thread;
  // one after another.
  void advance(Duration by);

 private:
  void move(Duration by);
  Timestamp next_watch(Duration pace) const;

  Engine& engine_;
  VirtualClock& clock_;
  std::function<void()> watcher_;
  std::mutex mutex_;  // Held while time moves. Taken before the engine's turn.
};

}  // namespace redrive::engine
