#pragma once

#include <string>

#include "sim/driver.h"
#include "sim/trace.h"

namespace redrive::sim {

// An error when the trace has steps that this simulator does not know.
Result<void> check_trace(const Trace& trace);

// How a trace fails when it is replayed: the invariant that it violates, or "signal 6" when the
// process ends so. Empty when it passes. Runs in a process of its own, so that crashes can be
// shrunk as well.
std::string failure_of(const Trace& trace);

// The shortest trace found that fails as this one does, with its draws and notes as they are when
// it is replayed. The trace itself when it passes.
Trace shrink_failure(const Trace& trace);

}  // namespace redrive::sim
