#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"
#include "server/toml.h"

namespace redrive::server {

// The tables [[dead-letters]] of the configuration: what dead-letter queues do by themselves, by
// the patterns of their names.
Result<std::vector<engine::PolicyRule>> read_policies(const toml::node& node,
                                                      const std::string& file);

}  // namespace redrive::server
