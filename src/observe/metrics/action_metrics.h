#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "observe/metrics/histogram.h"
#include "observe/metrics/named_counters.h"
#include "observe/metrics/on_demand.h"

namespace redrive::metrics {

// Latency and errors of the actions of one API. The names are fixed at construction, so that labels
// are bounded whatever clients request; "unknown" is appended for requests with any other name.
class ActionMetrics {
 public:
  ActionMetrics(std::string service, std::vector<std::string_view> actions);

  const std::string& service() const { return service_; }
  std::size_t size() const { return actions_.size(); }
  std::string_view name(std::size_t action) const { return actions_[action]; }

  // This thread's histogram of an action's microseconds; its total is the number of requests.
  Histogram& latency(std::size_t action) { return latencies_[action].get().here(); }
  void count_error(std::size_t action, ErrorCode code) {
    errors_[action].get().by_code[static_cast<std::size_t>(code)].add();
  }
  // For APIs with their own error names.
  void count_error(std::size_t action, std::string_view name) {
    errors_[action].get().by_name.add(name);
  }

  Distribution read_latency(std::size_t action) const;
  std::uint64_t errors(std::size_t action, ErrorCode code) const;
  std::vector<std::pair<std::string, std::uint64_t>> named_errors(std::size_t action) const;
  std::uint64_t errors(std::size_t action) const;  // Of all kinds.

 private:
  struct Errors {
    std::array<Counter, static_cast<std::size_t>(ErrorCode::network) + 1> by_code;
    NamedCounters by_name;
  };

  const std::string service_;
  const std::vector<std::string_view> actions_;
  std::unique_ptr<OnDemand<PerThread<Histogram>>[]> latencies_;
  std::unique_ptr<OnDemand<Errors>[]> errors_;
};

}  // namespace redrive::metrics
