#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/queue/state.h"

namespace redrive::engine {

// An event for operators. Never contains the contents of messages.
struct Notice {
  // Swarm and fault may occur by the thousand. Fault: the server could not do what it should.
  enum class Weight { usual, grave, swarm, fault };

  Weight weight = Weight::usual;
  std::string event;
  std::vector<std::pair<std::string, std::string>> fields;
};

// Whether a fact of this kind can be notable; cheap.
bool may_be_notable(const queue::Change& change);
// Call before the fact is applied, while what it removes still exists.
std::optional<Notice> notice_of(const queue::State& state, const queue::Change& change);

}  // namespace redrive::engine
