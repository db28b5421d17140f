#pragma once

#include <string_view>

#include "base/result.h"
#include "bench/latencies.h"
#include "bench/requests.h"

namespace redrive::bench {

struct WakeShape {
  int samples = 50;
  std::size_t body_bytes = 1024;
  Nanos pause = std::chrono::milliseconds(20);  // The server is asleep by then.
};

// On an otherwise idle server: how long after a send does a consumer waiting in a long poll get the
// message? The queue must be empty.
Result<Latencies> measure_wake(const Endpoint& endpoint, std::string_view queue_url,
                               const WakeShape& shape);

}  // namespace redrive::bench
