#pragma once

#include <optional>
#include <string>

#include "bench/latencies.h"
#include "bench/options.h"

namespace redrive::bench {

// The results of one run.
struct Measurement {
  Nanos elapsed{};
  std::int64_t requests = 0;
  std::int64_t messages = 0;  // Sent in mode send, otherwise deleted.
  std::optional<Nanos> server_cpu;
  Nanos generator_cpu{};
  Latencies latencies;
};

// The measurement in the requested format: lines of text, one JSON object, or a CSV header and its
// row. Each includes the commit and the machine, so that a number can be trusted later.
std::string report(const Options& options, const Measurement& measurement,
                   const std::string& machine);

}  // namespace redrive::bench
