#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

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

  void observe_queues(Timestamp now);
  void observe_functions(Timestamp now);
  void observe_mappings(Timestamp now);
  void observe_server(Timestamp now);
  metrics::History::Between between(Timestamp now) const;

  Parts parts_;
  std::mutex mutex_;  // Guards everything below.
  Timestamp last_;
  std::map<metrics::Subject, Sums> sums_;
  std::unordered_map<queue::QueueKey, WatchedQueue> queues_;  // A recreated queue has another key.
};

}  // namespace redrive::monitor
