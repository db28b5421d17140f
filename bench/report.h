#pragma once

#include <optional>
#include <string>

#include "bench/latencies.h"
#include "bench/options.h"

namespace redrive::bench {

// What one run measured.
struct Measurement {
  Nanos elapsed{};
  std::int64_t requests = 0;
  std::int64_t messages = 0;  // Sent in mode send, else deleted.
  std::optional<Nanos> server_cpu;
  Nanos generator_cpu{};
  Latencies latencies;
};

// The measurement in the format asked for: lines of text for people, one JSON object, or a CSV
// header and its row. Each carries the commit and the machine, so that a number can be believed
// later.
std::string report(const Options& options, const Measurement& measurement,
                   const std::string& machine);

}  // namespace redrive::bench
