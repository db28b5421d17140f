#pragma once

#include <string>
#include <vector>

#include "app/toml.h"
#include "dead_letters/policy/policy_book.h"

namespace redrive::app {

// The tables [[dead-letters]] of the configuration: what dead-letter queues do automatically, by
// patterns of their names.
Result<std::vector<dead_letters::PolicyRule>> read_policies(const toml::node& node,
                                                            const std::string& file);

}  // namespace redrive::app
