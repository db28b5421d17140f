#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "metrics/action_metrics.h"
#include "metrics/function_metrics.h"
#include "metrics/histogram.h"

namespace redrive::metrics {

// Everything that is recorded outside of the engine's turn, in one place that outlives those who
// record. APIs add themselves before the first request.
struct ServerMetrics {
  Histogram sync_micros;
  Histogram sync_records;
  FunctionRegistry functions;
  std::vector<std::shared_ptr<ActionMetrics>> apis;
};

}  // namespace redrive::metrics
