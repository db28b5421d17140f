#pragma once

#include <atomic>
#include <cstdint>

#include "functions/dispatch/concurrency.h"

namespace redrive::dispatch {

// Statistics of a mapping since the server started. Thread-safe to read.
struct MappingStats {
  std::atomic<std::uint64_t> polled = 0;
  std::atomic<std::uint64_t> filtered_out = 0;
  std::atomic<std::uint64_t> invoked = 0;          // Messages handed to the function.
  std::atomic<std::uint64_t> failed = 0;           // Messages whose handler failed.
  std::atomic<std::uint64_t> dead_lettered = 0;    // By the mapping's own rules.
  std::atomic<std::uint64_t> sent_on_failure = 0;  // Delivered to OnFailure.
  std::atomic<std::uint64_t> deleted = 0;          // After success.
  std::atomic<std::uint64_t> batches = 0;
  std::atomic<std::uint64_t> throttles = 0;
  std::atomic<std::uint32_t> running = 0;    // Batches, currently.
  std::atomic<std::uint32_t> limit = 0;      // Of batches, currently.
  std::atomic<std::uint32_t> limit_max = 0;  // Without errors, throttling or a lack of processes.
  std::atomic<Concurrency::Slowed> slowed = Concurrency::Slowed::no;
  // The mapping may still receive messages, or is processing some.
  std::atomic<bool> engaged = true;
};

// The same for a function's asynchronous invocations.
struct AsyncStats {
  std::atomic<std::uint64_t> succeeded = 0;
  std::atomic<std::uint64_t> retried = 0;
  std::atomic<std::uint64_t> dropped = 0;      // Failed for good.
  std::atomic<std::uint64_t> undelivered = 0;  // Records that reached no destination.
  std::atomic<std::uint32_t> running = 0;
};

}  // namespace redrive::dispatch
