#pragma once

#include <vector>

#include "core/engine/engine.h"
#include "functions/dispatch/dispatcher.h"
#include "manage/documents/overview.h"

namespace redrive::app {

// Every mapping of the catalogue, and every function that is invoked asynchronously, with the
// outcomes of their messages since the server started. From any thread.
std::vector<documents::KeptHandler> handler_overview(engine::Engine& engine,
                                                     const dispatch::Dispatcher& dispatcher);

}  // namespace redrive::app
