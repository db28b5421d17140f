#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/host.h"
#include "runtime/invoker.h"
#include "runtime/spawn.h"

namespace redrive::runtime {

// How a process reaches its Runtime API.
//
// Our own bootstraps speak the same over two pipes that they inherit: a port costs them, and us,
// twice as much for each event.
struct ApiWays {
  std::uint16_t port = 0;  // On the loopback interface; 0: it has none.
  int link_input = -1;     // -1: it would not know of it, like the next.
  int link_output = -1;
};
// Whether it is run by a bootstrap of ours that does.
bool knows_link(const FunctionSpec& function);

// A process of a function, described: the program of its runtime, the environment that Lambda
// promises, and as much containment as the host has. Descriptors and user are the caller's part.
//
// Fails with resource_not_found when the function's own code lacks what its runtime starts, with
// unsupported_operation when this machine cannot run such functions.
Result<SpawnRequest> plan_launch(Host& host, const FunctionSpec& function, const Place& place,
                                 const ApiWays& api);

}  // namespace redrive::runtime
