#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "observe/metrics/action_metrics.h"
#include "observe/metrics/function_metrics.h"
#include "observe/metrics/histogram.h"

namespace redrive::metrics {

// Everything recorded outside the engine's turn; outlives the code that records. APIs register
// before the first request.
struct ServerMetrics {
  Histogram sync_micros;
  Histogram sync_records;
  FunctionRegistry functions;
  std::vector<std::shared_ptr<ActionMetrics>> apis;
};

}  // namespace redrive::metrics
