#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/workers.h"
#include "dispatch/strand.h"
#include "engine/engine.h"
#include "http/outgoing_policy.h"
#include "metrics/function_metrics.h"
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
  unsigned processes_max;                       // Of all functions together.
  std::function<void(std::string)> async_sent;  // To this function. On the strand.
  std::function<void()> reload;                 // Something is not as it was defined.
  std::function<void(const RunReport&)> ran;    // May be empty. On the strand.
  metrics::FunctionRegistry* measured;          // None: nobody measures.
  http::OutgoingPolicyPtr outgoing;             // For destinations that are URLs.
  const bool waits_for_sync = false;            // Nothing runs before its receive is durable.
  std::atomic<engine::Sequence> synced = 0;
  std::atomic<bool> sync_awaited = false;  // Somebody waits for `synced` to grow.

  // When it is not, whoever asked is told when it may be.
  bool is_durable(engine::Sequence sequence) {
    if (!waits_for_sync || synced >= sequence) return true;
    sync_awaited = true;
    return synced >= sequence;  // It may have come in between.
  }

  // Where it is counted what becomes of the events for a function. Asked for each time: a function
  // that is made anew is counted anew.
  std::shared_ptr<metrics::FunctionMetrics> counted(std::string_view function) const {
    return measured != nullptr ? measured->functions.of(function)
                               : std::make_shared<metrics::FunctionMetrics>();
  }
  double random01() { return static_cast<double>(ids.bits() >> 11) * 0x1.0p-53; }
  Timestamp wall() const { return engine.wall(); }
};

}  // namespace redrive::dispatch
