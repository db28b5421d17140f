#pragma once

#include <algorithm>
#include <array>
#include <string_view>

// redrive.toml may contain both the server's settings and the resources for `redrive apply`. Each
// ignores the other's sections.

namespace redrive::stack {

inline constexpr std::array<std::string_view, 6> kStackSections = {
    "stack", "queue", "function", "mapping", "bucket", "alarm"};
inline constexpr std::array<std::string_view, 13> kServerSections = {"key",
                                                                     "dead-letters",
                                                                     "limits",
                                                                     "alarms",
                                                                     "metrics",
                                                                     "traces",
                                                                     "outgoing",
                                                                     "functions",
                                                                     "masking",
                                                                     "console",
                                                                     "clock",
                                                                     "settled",
                                                                     "audit"};

constexpr bool is_stack_section(std::string_view name) {
  return std::ranges::find(kStackSections, name) != kStackSections.end();
}
// Server settings that are tables; any top-level scalar is one, too.
constexpr bool is_server_section(std::string_view name) {
  return std::ranges::find(kServerSections, name) != kServerSections.end();
}

}  // namespace redrive::stack
