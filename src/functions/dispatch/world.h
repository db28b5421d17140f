#pragma once

#include <fmt/format.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/workers.h"
#include "core/engine/engine.h"
#include "functions/dispatch/strand.h"
#include "functions/runtime/invoker.h"
#include "net/http/outgoing_policy.h"
#include "objects/store.h"
#include "observe/metrics/function_metrics.h"

namespace redrive::dispatch {

struct RunReport;

// Dependencies shared by everything in this module. Kept alive by its users; engine, invoker and
// buckets outlive them all.
struct World {
  engine::Engine& engine;
  runtime::Invoker& invoker;
  objects::Store* buckets;  // Null: the server has no archive.
  std::function<void(std::string)> log;
  Strand strand;
  Workers workers;
  SeededIds ids;                        // On the strand only.
  queue::ReceiptHandle::Secret secret;  // For receipt handles.
  unsigned concurrency_max;             // Of pollers without a limit of their own.
  unsigned processes_max;               // Of all functions together.
  // An event was queued for this function. On the strand.
  std::function<void(std::string)> async_sent;
  std::function<void()> reload;               // A definition has changed.
  std::function<void(const RunReport&)> ran;  // May be empty. On the strand.
  metrics::FunctionRegistry* measured;        // Null: no metrics.
  http::OutgoingPolicyPtr outgoing;           // For destinations that are URLs.
  const bool waits_for_sync = false;          // Nothing runs before its receive is durable.
  std::atomic<engine::Sequence> synced = 0;
  std::atomic<bool> sync_awaited = false;  // A runner waits for `synced` to grow.

  // For calls whose outcome decides nothing: logs a failure. A queue that was deleted meanwhile is
  // none.
  template <class T>
  void note(std::string_view doing, const Result<T>& result) const {
    if (result || result.error().code == ErrorCode::queue_does_not_exist || !log) return;
    log(fmt::format("{} failed: {}", doing, result.error().message));
  }

  // If not durable yet, the caller's synced() is called later.
  bool is_durable(engine::Sequence sequence) {
    if (!waits_for_sync || synced >= sequence) return true;
    sync_awaited = true;
    return synced >= sequence;  // It may have been synced in between.
  }

  // Metrics of a function. Looked up each time, because a function that is created again gets new
  // ones.
  std::shared_ptr<metrics::FunctionMetrics> counted(std::string_view function) const {
    return measured != nullptr ? measured->functions.of(function)
                               : std::make_shared<metrics::FunctionMetrics>();
  }
  double random01() { return static_cast<double>(ids.bits() >> 11) * 0x1.0p-53; }
  Timestamp wall() const { return engine.wall(); }
};

}  // namespace redrive::dispatch
