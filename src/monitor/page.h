#pragma once

#include <functional>
#include <string>

#include "engine/engine.h"
#include "metrics/history.h"
#include "metrics/server_metrics.h"
#include "monitor/process_reading.h"

namespace redrive::monitor {

// GET /metrics: everything that is measured, as Prometheus reads it. docs/metrics.md lists it.
struct PageParts {
  engine::Engine& engine;
  const metrics::ServerMetrics& recorded;
  const metrics::History& history;
  Sources sources;
  std::size_t queues_max = 1'000;  // With lines of their own; the others are one, named "other".
  // Whether the reader may see the numbers of a queue, a function, a mapping or the server; empty:
  // everything.
  std::function<bool(const metrics::Subject&)> sees = {};
};
std::string metrics_page(const PageParts& parts);

}  // namespace redrive::monitor
