#include "cloudwatch/call.h"

namespace redrive::cloudwatch {
namespace {

using auth::Right;

constexpr Action kActions[] = {
    {"GetMetricData", Right::look, true, &get_metric_data},
    {"GetMetricStatistics", Right::look, true, &get_metric_statistics},
    {"ListMetrics", Right::look, true, &list_metrics},
};

}  // namespace

std::span<const Action> actions() {
  return kActions;
}

}  // namespace redrive::cloudwatch
