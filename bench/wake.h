#pragma once

#include <string_view>

#include "base/result.h"
#include "bench/latencies.h"
#include "bench/requests.h"

namespace redrive::bench {

struct WakeShape {
  int samples = 50;
  std::size_t body_bytes = 1024;
  Nanos pause = std::chrono::milliseconds(20);  // The server has gone to sleep by then.
};

// On a server with nothing else to do: how long after a send does a consumer that is already
// waiting in a long poll hold the message? The queue must be empty.
Result<Latencies> measure_wake(const Endpoint& endpoint, std::string_view queue_url,
                               const WakeShape& shape);

}  // namespace redrive::bench
