#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/host.h"
#include "runtime/invoker.h"
#include "runtime/spawn.h"

namespace redrive::runtime {

// A process of a function, described: the program of its runtime, the environment that Lambda
// promises, and as much containment as the host has. Descriptors and user are the caller's part.
//
// Fails with resource_not_found when the function's own code lacks what its runtime starts, with
// unsupported_operation when this machine cannot run such functions.
Result<SpawnRequest> plan_launch(Host& host, const FunctionSpec& function, const Place& place,
                                 std::uint16_t api_port);

}  // namespace redrive::runtime
