#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engine/engine.h"
#include "metrics/history.h"
#include "metrics/server_metrics.h"
#include "monitor/process_reading.h"
#include "monitor/queue_reading.h"

namespace redrive::monitor {

// Looks at everything that is measured and writes it into the history: once a second, or, where
// time stands still, as it moves. From any thread; one after another.
class Collector {
 public:
  struct Parts {
    engine::Engine& engine;
    metrics::ServerMetrics& recorded;
    metrics::History& history;
    Sources sources;
    bool virtual_time = false;  // Nobody was away, however far time has moved.
  };
  explicit Collector(Parts parts) : parts_(std::move(parts)) {}

  // Nothing happens when the last look was within the same second.
  void observe();

 private:
  // What a subject's counters stood at when they were last looked at, by metric.
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
  std::unordered_map<queue::QueueKey, WatchedQueue> queues_;  // One made anew has another key.
};

}  // namespace redrive::monitor
