#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "observe/topology/topology.h"

namespace redrive::topology {

enum class Severity : std::uint8_t {
  advice,   // Could be improved.
  warning,  // Will cause trouble eventually.
  problem,  // Messages are lost or stuck, or will be.
};
std::string_view name_of(Severity severity);

// A misconfiguration or risk found for a queue.
struct Finding {
  Severity severity = Severity::advice;
  std::string_view rule;  // Stable name for scripts.
  std::string queue;
  std::string what;
  std::string_view why;  // Why it matters.
  std::string fix;       // Commands to copy.
};

// All findings, most severe first, then by queue. Pure.
std::vector<Finding> examine(const Topology& topology);

}  // namespace redrive::topology
