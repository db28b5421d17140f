#pragma once

#include <functional>
#include <thread>

#include "base/mutex.h"
#include "core/engine/engine.h"

namespace redrive::app {

// Runs the engine's background work in slices, on its own thread.
class Maintenance {
 public:
  Maintenance(engine::Engine& engine, std::function<void(const Error&)> on_failure);
  ~Maintenance();
  Maintenance(const Maintenance&) = delete;
  Maintenance& operator=(const Maintenance&) = delete;

 private:
  void run();

  engine::Engine& engine_;
  std::function<void(const Error&)> on_failure_;
  Mutex mutex_;
  ConditionVariable stop_;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace redrive::app
