#pragma once

#include "cli/client/endpoint.h"
#include "cli/client/service.h"
#include "cli/client/world.h"

namespace redrive::cli {

// What a command uses while it runs.
struct Session {
  World& world;
  bool json;
  Endpoint endpoint;
  Service service;

  Terminal& terminal() { return world.terminal; }
};

}  // namespace redrive::cli
