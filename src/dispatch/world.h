#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/ids.h"
#include "dispatch/strand.h"
#include "dispatch/workers.h"
#include "engine/engine.h"
#include "objects/store.h"
#include "runtime/invoker.h"

namespace redrive::dispatch {

struct RunReport;

// What everything in this room has around it. Whoever has a part in it keeps it alive; engine,
// invoker and buckets outlive all of them.
struct World {
  engine::Engine& engine;
  runtime::Invoker& invoker;
  objects::Store* buckets;  // None: the server has no archive.
  std::function<void(std::string)> log;
  Strand strand;
  Workers workers;
  SeededIds ids;                                // On the strand only.
  queue::ReceiptHandle::Secret secret;          // Of receipt handles.
  unsigned concurrency_max;                     // Of pollers that have no limit of their own.
  std::function<void(std::string)> async_sent;  // To this function. On the strand.
  std::function<void(const RunReport&)> ran;    // May be empty. On the strand.

  double random01() { return static_cast<double>(ids.bits() >> 11) * 0x1.0p-53; }
  Timestamp wall() {
    return engine.turn([](engine::Turn& turn) { return turn.stamp().wall; });
  }
};

}  // namespace redrive::dispatch
