#pragma once

#include <functional>
#include <string>

#include "core/engine/engine.h"
#include "dead_letters/dead_letters.h"
#include "observe/metrics/history.h"
#include "observe/metrics/server_metrics.h"
#include "observe/monitor/process_reading.h"

namespace redrive::monitor {

// GET /metrics: all metrics in Prometheus' format. docs/metrics.md lists them.
struct PageParts {
  engine::Engine& engine;
  dead_letters::DeadLetters& dead_letters;
  const metrics::ServerMetrics& recorded;
  const metrics::History& history;
  Sources sources;
  // With samples of their own; the others are summed up as "other".
  std::size_t queues_max = 1'000;
  // Whether the caller may see the metrics of a queue, a function, a mapping or the server; empty:
  // everything.
  std::function<bool(const metrics::Subject&)> sees = {};
};
std::string metrics_page(const PageParts& parts);

}  // namespace redrive::monitor
