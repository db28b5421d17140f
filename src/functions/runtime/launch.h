#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "functions/runtime/host.h"
#include "functions/runtime/invoker.h"
#include "functions/runtime/spawn.h"

namespace redrive::runtime {

// How a process reaches its Runtime API.
//
// Our own bootstraps use two inherited pipes: a port costs both sides twice as much per event.
struct ApiWays {
  std::uint16_t port = 0;  // On the loopback interface; 0: none.
  int link_input = -1;     // -1: none; so is the next.
  int link_output = -1;
};
// Whether it runs with one of our bootstraps that use the pipes.
bool knows_link(const FunctionSpec& function);

// Describes a process of a function: the runtime's program, the environment that Lambda guarantees,
// and as much isolation as the host supports. The caller adds descriptors and user.
//
// Fails with resource_not_found if the function's code lacks what its runtime starts, and with
// unsupported_operation if this machine cannot run such functions.
Result<SpawnRequest> plan_launch(Host& host, const FunctionSpec& function, const Place& place,
                                 const ApiWays& api);

}  // namespace redrive::runtime
