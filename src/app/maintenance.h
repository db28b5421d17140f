#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core/engine/engine.h"

namespace redrive::app {

// Gives the engine's background work its slices, in a thread of its own.
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
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace redrive::app
