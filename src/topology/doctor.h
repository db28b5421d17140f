#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/topology.h"

namespace redrive::topology {

enum class Severity : std::uint8_t {
  advice,   // It could be better.
  warning,  // It will hurt on a bad day.
  problem,  // Messages are lost or stuck, or will be.
};
std::string_view name_of(Severity severity);

// A trap that a queue stands in.
struct Finding {
  Severity severity = Severity::advice;
  std::string_view rule;  // A name for scripts; it never changes.
  std::string queue;
  std::string what;
  std::string_view why;  // Why it hurts.
  std::string fix;       // Commands to paste.
};

// Every trap that can be seen from outside, the worst first, then by queue. Pure.
std::vector<Finding> examine(const Topology& topology);

}  // namespace redrive::topology
