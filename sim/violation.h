#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace redrive::sim {

// A broken promise: which one, and what was seen. Thrown where no frame of the server is on the
// stack, and caught by whoever runs a seed.
struct Violation {
  std::string invariant;
  std::string detail;
};

template <class... Args>
void require(bool holds, std::string_view invariant, fmt::format_string<Args...> detail,
             Args&&... args) {
  if (holds) return;
  throw Violation{std::string(invariant), fmt::format(detail, std::forward<Args>(args)...)};
}

}  // namespace redrive::sim
