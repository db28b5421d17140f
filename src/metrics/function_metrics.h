#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/histogram.h"
#include "metrics/named_counters.h"

namespace redrive::metrics {

// What whoever runs a function records of it. Everything may be used from any thread.
struct FunctionMetrics {
  Counter invocations;  // That were run, however they ended.
  Counter errors;       // Of those: ended with an error, a timeout or a crash.
  NamedCounters errors_by_type;
  Counter throttles;  // Turned away because too many were running.
  Peak duration_max;
  Histogram duration;            // Milliseconds.
  Gauge concurrency;             // Running now.
  Counter cold_starts;           // Processes started.
  Counter async_received;        // Events accepted for later,
  Counter async_dropped;         // and given up.
  Histogram async_age;           // Milliseconds from acceptance to the run.
  Counter destination_failures;  // Records that could not be delivered to a destination,
  Counter dead_letter_failures;  // or to the function's dead-letter queue.
};

// What whoever polls a queue for a function records of it: counts of events.
struct MappingMetrics {
  Counter polled;
  Counter filtered;
  Counter invoked;
  Counter failed;
  Counter deleted;
  Counter dropped;
  Counter sent_on_failure;  // Delivered to the destination for failures.
  Gauge concurrency;        // Batches in hand.
  Gauge concurrency_limit;  // Batches that may be in hand.
  Histogram age;            // Milliseconds from a message's send until the function gets it.
};

// The metrics of things that come and go under names. Who asks for one keeps it; when the table is
// full, all that are new share one named "other", so that memory and labels are bounded.
template <class T>
class NamedMetrics {
 public:
  static constexpr std::size_t kDefaultMax = 1'000;

  explicit NamedMetrics(std::size_t names_max = kDefaultMax) : names_max_(names_max) {}

  std::shared_ptr<T> of(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (const auto found = all_.find(name); found != all_.end()) return found->second;
    const bool full = all_.size() >= names_max_;
    auto& entry = all_[full ? std::string("other") : std::string(name)];
    if (!entry) entry = std::make_shared<T>();
    return entry;
  }
  // What is gone is shown no more. Those who still have it count for nobody.
  void forget(std::string_view name) {
    const std::lock_guard lock(mutex_);
    if (const auto found = all_.find(name); found != all_.end()) all_.erase(found);
  }
  std::vector<std::pair<std::string, std::shared_ptr<T>>> all() const {
    const std::lock_guard lock(mutex_);
    return {all_.begin(), all_.end()};
  }

 private:
  const std::size_t names_max_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<T>, std::less<>> all_;  // Guarded by mutex_.
};

// The one place where those who run functions and those who show metrics meet. Functions go by
// their ARNs without a qualifier, mappings by UUID.
struct FunctionRegistry {
  NamedMetrics<FunctionMetrics> functions;
  NamedMetrics<MappingMetrics> mappings;
  Gauge processes;  // Of all functions together, like the next two.
  Gauge processes_max;
  Counter process_waits;  // Invocations that waited because processes_max was reached.
};

}  // namespace redrive::metrics
