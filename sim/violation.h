#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace redrive::sim {

// A violated invariant: its name, and what was observed. Thrown where no frame of the server is on
// the stack, and caught by the runner of a seed.
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

// Whether a result is the expected refusal or, if none was expected, a success.
template <class Outcome>
bool is_as_expected(const Outcome& outcome, const std::optional<ErrorCode>& refusal) {
  return refusal ? !outcome && outcome.error().code == *refusal : outcome.has_value();
}

}  // namespace redrive::sim
