#pragma once

#include <algorithm>
#include <array>
#include <string_view>

// One file can be both: redrive.toml with the settings of the server, and with what
// `redrive apply` makes on it. Each passes over what belongs to the other.

namespace redrive::stack {

inline constexpr std::array<std::string_view, 6> kStackSections = {
    "stack", "queue", "function", "mapping", "bucket", "alarm"};
inline constexpr std::array<std::string_view, 8> kServerSections = {
    "key", "dead-letters", "limits", "alarms", "metrics", "traces", "outgoing", "functions"};

constexpr bool is_stack_section(std::string_view name) {
  return std::ranges::find(kStackSections, name) != kStackSections.end();
}
// Settings of the server that are tables; any other value at the top is one, too.
constexpr bool is_server_section(std::string_view name) {
  return std::ranges::find(kServerSections, name) != kServerSections.end();
}

}  // namespace redrive::stack
