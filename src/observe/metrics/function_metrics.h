#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "observe/metrics/histogram.h"
#include "observe/metrics/named_counters.h"

namespace redrive::metrics {

// Metrics of a function. Thread-safe.
struct FunctionMetrics {
  Counter invocations;  // All that ran, whatever their outcome.
  Counter errors;       // Of those: ended with an error, a timeout or a crash.
  NamedCounters errors_by_type;
  Counter throttles;  // Refused because too many were running.
  Peak duration_max;
  Histogram duration;            // Milliseconds.
  Gauge concurrency;             // Running now.
  Counter cold_starts;           // Processes started.
  Counter async_received;        // Events accepted for asynchronous invocation,
  Counter async_dropped;         // and dropped.
  Histogram async_age;           // Milliseconds from acceptance to the run.
  Counter destination_failures;  // Records that could not be delivered to a destination,
  Counter dead_letter_failures;  // or to the function's dead-letter queue.
};

// Metrics of an event source mapping: counts of events.
struct MappingMetrics {
  Counter polled;
  Counter filtered;
  Counter invoked;
  Counter failed;
  Counter deleted;
  Counter dropped;
  Counter sent_on_failure;  // Delivered to the OnFailure destination.
  Gauge concurrency;        // Batches in progress.
  Gauge concurrency_limit;  // Maximum number of batches in progress.
  Histogram age;            // Milliseconds from a message's send until the function gets it.
};

// Metrics by name, for things that come and go. When the table is full, new names share one entry
// named "other", so that memory and labels are bounded.
template <class T>
class NamedMetrics {
 public:
  static constexpr std::size_t kDefaultMax = 1'000;

  explicit NamedMetrics(std::size_t names_max = kDefaultMax) : names_max_(names_max) {}

  std::shared_ptr<T> of(std::string_view name) {
    const MutexLock lock(mutex_);
    if (const auto found = all_.find(name); found != all_.end()) return found->second;
    const bool full = all_.size() >= names_max_;
    auto& entry = all_[full ? std::string("other") : std::string(name)];
    if (!entry) entry = std::make_shared<T>();
    return entry;
  }
  // Removes an entry. Values still recorded through existing references are not shown.
  void forget(std::string_view name) {
    const MutexLock lock(mutex_);
    if (const auto found = all_.find(name); found != all_.end()) all_.erase(found);
  }
  std::vector<std::pair<std::string, std::shared_ptr<T>>> all() const {
    const MutexLock lock(mutex_);
    return {all_.begin(), all_.end()};
  }

 private:
  const std::size_t names_max_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<T>, std::less<>> all_ GUARDED_BY(mutex_);
};

// Metrics shared by the code that runs functions and the code that exposes metrics. Functions are
// keyed by their unqualified ARN, mappings by UUID.
struct FunctionRegistry {
  NamedMetrics<FunctionMetrics> functions;
  NamedMetrics<MappingMetrics> mappings;
  Gauge processes;  // Of all functions, like the next two.
  Gauge processes_max;
  Counter process_waits;  // Invocations that waited because processes_max was reached.
};

}  // namespace redrive::metrics
