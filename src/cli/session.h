#pragma once

#include "cli/endpoint.h"
#include "cli/service.h"
#include "cli/world.h"

namespace redrive::cli {

// What a verb has in hand while it runs.
struct Session {
  World& world;
  bool json;
  Endpoint endpoint;
  Service service;

  Terminal& terminal() { return world.terminal; }
};

}  // namespace redrive::cli
