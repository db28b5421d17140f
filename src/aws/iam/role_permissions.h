#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.h"
#include "net/auth/access_key.h"

namespace redrive::iam {

// What the policies of a role allow and deny: those written into it and those attached to it.
// Nothing when `role_arn` names no role of that account that this server has; its trust policy is
// not asked. From any thread, outside of turns.
std::optional<std::vector<auth::Statement>> role_permissions(engine::Engine& engine,
                                                             std::string_view account,
                                                             std::string_view role_arn);

// The unique id of a role (AROA...); empty when there is none.
std::string role_id(engine::Engine& engine, std::string_view account, std::string_view role_arn);

}  // namespace redrive::iam
