#pragma once

#include <functional>

#include "sim/trace.h"

namespace redrive::sim {

// Drops steps from a trace as long as it stays `interesting`, which means that it still fails in
// the same way. Large pieces are tried first, then smaller ones, down to single steps none of which
// can be dropped. The setup stays.
Trace shrink(Trace trace, const std::function<bool(const Trace&)>& interesting);

}  // namespace redrive::sim
