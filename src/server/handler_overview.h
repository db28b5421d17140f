#pragma once

#include <vector>

#include "dispatch/dispatcher.h"
#include "documents/overview.h"
#include "engine/engine.h"

namespace redrive::server {

// Every mapping of the catalogue, and every function that is invoked asynchronously, with what
// became of their messages since the server started. From any thread.
std::vector<documents::KeptHandler> handler_overview(engine::Engine& engine,
                                                     const dispatch::Dispatcher& dispatcher);

}  // namespace redrive::server
