#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/queue/state.h"

namespace redrive::engine {

// Something that an operator would want to read of afterwards. Never what messages contain.
struct Notice {
  // Swarm and fault may come by the thousand. Fault: the server could not do what it should.
  enum class Weight { usual, grave, swarm, fault };

  Weight weight = Weight::usual;
  std::string event;
  std::vector<std::pair<std::string, std::string>> fields;
};

// Whether a fact is worth one, as far as can be told from its kind; cheap.
bool may_be_notable(const queue::Change& change);
// To be asked before the fact is applied: what it removes is still there to be named.
std::optional<Notice> notice_of(const queue::State& state, const queue::Change& change);

}  // namespace redrive::engine
