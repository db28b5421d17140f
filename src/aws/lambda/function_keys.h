#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "core/engine/engine.h"
#include "front/gate.h"
#include "functions/definitions/definition.h"
#include "net/auth/access_key.h"

namespace redrive::lambda {

// What a function's role allows and denies; nothing when the server has no such role.
using RolePermissions = std::function<std::optional<std::vector<auth::Statement>>(
    std::string_view account, std::string_view role_arn)>;

// The unique id of a role (AROA...); empty when the server has no such role.
using RoleId = std::function<std::string(std::string_view account, std::string_view role_arn)>;

// The rights of a function's key: to consume from `source_arns`, the queues that are mapped to it,
// and what its role says. A deny of the role also holds for its source queues. Pure.
std::vector<auth::Statement> function_statements(
    const std::vector<std::string>& source_arns,
    const std::optional<std::vector<auth::Statement>>& role);

// Access keys that the server creates, one for each function. A key allows what the function's
// mappings and role allow, and is removed with the function.
//
// Thread-safe. mutex_ guards lent_ and is held while the catalogue is read, so that the latest
// reading wins; it is never taken in a turn.
class FunctionKeys {
 public:
  struct Parts {
    engine::Engine& engine;
    front::Gate& gate;
    RolePermissions role_permissions = {};  // Empty: there are no roles.
    RoleId role_id = {};                    // The same.
    bool account_wide = false;              // Each key is an operator of its whole account instead.
  };
  explicit FunctionKeys(Parts parts) : parts_(std::move(parts)) {}

  struct Key {
    std::string id;
    std::string secret;
  };
  // SenderId of what a function sends, as on AWS: the id of its role, and its name. Where there is
  // no such role, the role's name.
  std::string sender_of(const functions::Function& function) const;
  // The key of a function of the catalogue.
  Key key_for(const functions::FunctionId& function);
  // Call after functions, mappings or roles have changed. When this returns, keys of deleted
  // functions are refused and the others are up to date.
  void refresh();

 private:
  struct Reading;  // The relevant parts of the catalogue.

  Reading read_catalogue() const;
  void refresh_locked() REQUIRES(mutex_);
  auth::AccessKey key_of(const Reading& reading, const std::string& arn, const Key& key) const;

  const Parts parts_;
  Mutex mutex_;
  std::map<std::string, Key> lent_ GUARDED_BY(mutex_);  // By the function's ARN.
};

}  // namespace redrive::lambda
