#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "core/engine/engine.h"
#include "observe/metrics/history.h"
#include "observe/metrics/server_metrics.h"
#include "observe/monitor/process_reading.h"
#include "observe/monitor/queue_reading.h"

namespace redrive::monitor {

// Samples all metrics into the history: once a second or, with a virtual clock, as time moves.
// Thread-safe; calls are serialised.
class Collector {
 public:
  struct Parts {
    engine::Engine& engine;
    metrics::ServerMetrics& recorded;
    metrics::History& history;
    Sources sources;
    bool virtual_time = false;  // Gaps are not downtime, however far time has moved.
  };
  explicit Collector(Parts parts) : parts_(std::move(parts)) {}

  // Does nothing if called again within the same second.
  void observe();

 private:
  // A subject's counter values at the last sample, by metric.
  using Sums = std::vector<std::uint64_t>;
  struct WatchedQueue {
    metrics::Subject subject;
    Sums sums;
    Timestamp seen_at;
  };

  void observe_queues(Timestamp now) REQUIRES(mutex_);
  void observe_functions(Timestamp now) REQUIRES(mutex_);
  void observe_mappings(Timestamp now) REQUIRES(mutex_);
  void observe_server(Timestamp now) REQUIRES(mutex_);
  metrics::History::Between between(Timestamp now) const REQUIRES(mutex_);

  Parts parts_;
  Mutex mutex_;
  Timestamp last_ GUARDED_BY(mutex_);
  std::map<metrics::Subject, Sums> sums_ GUARDED_BY(mutex_);
  std::unordered_map<queue::QueueKey, WatchedQueue> queues_
      GUARDED_BY(mutex_);  // A recreated queue has another key.
};

}  // namespace redrive::monitor
