#include "sim/shrink.h"

#include <algorithm>

namespace redrive::sim {
namespace {

Trace without(const Trace& trace, std::size_t from, std::size_t count) {
  Trace shorter = trace;
  const auto first = shorter.steps.begin() + static_cast<std::ptrdiff_t>(from);
  shorter.steps.erase(first, first + static_cast<std::ptrdiff_t>(count));
  return shorter;
}

// Tries to drop every piece of `size` steps once, from the end: what comes last depends on what was
// before it, and not the other way round. Whether one could be dropped.
bool drop_pieces(Trace& trace, std::size_t size,
                 const std::function<bool(const Trace&)>& interesting) {
  bool dropped = false;
  for (std::size_t end = trace.steps.size(); end > 1;) {
    const std::size_t from = end - std::min(size, end - 1);
    Trace shorter = without(trace, from, end - from);
    end = from;
    if (!interesting(shorter)) continue;
    trace = std::move(shorter);
    dropped = true;
  }
  return dropped;
}

}  // namespace

Trace shrink(Trace trace, const std::function<bool(const Trace&)>& interesting) {
  for (std::size_t size = std::max<std::size_t>(trace.steps.size() / 2, 1); size > 1; size /= 2) {
    drop_pieces(trace, size, interesting);
  }
  while (drop_pieces(trace, 1, interesting)) {
  }
  return trace;
}

}  // namespace redrive::sim
