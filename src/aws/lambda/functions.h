#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aws/lambda/code_store.h"
#include "aws/lambda/function_keys.h"
#include "base/mutex.h"
#include "core/engine/engine.h"
#include "front/gate.h"
#include "functions/definitions/definition.h"
#include "functions/runtime/invoker.h"

namespace redrive::lambda {

// A function with everything needed to run it.
struct Deployed {
  functions::Function function;
  std::shared_ptr<const runtime::FunctionSpec> spec;
};

// Finds functions in the catalogue and prepares them to run: unpacks code, completes environments.
//
// Thread-safe, and cheap if nothing has changed: an entry is read in a turn and compared with the
// cached one, so changes need no notification. mutex_ guards known_; it
// is never held during a turn.
class Functions {
 public:
  struct Parts {
    engine::Engine& engine;
    front::Gate& gate;
    CodeStore& code;
    std::function<std::string()> endpoint_url;  // Where handlers find this server.
    RolePermissions role_permissions = {};      // See FunctionKeys, like the next two.
    RoleId role_id = {};
    bool account_wide_keys = false;
  };
  explicit Functions(Parts parts)
      : parts_(std::move(parts)),
        keys_({.engine = parts_.engine,
               .gate = parts_.gate,
               .role_permissions = parts_.role_permissions,
               .role_id = parts_.role_id,
               .account_wide = parts_.account_wide_keys}) {}

  // By its ARN, with or without a qualifier. resource_not_found when there is none.
  Result<std::shared_ptr<const Deployed>> find(const std::string& arn);
  // Removes code that no function has. At start, before requests.
  void forget_unused_code();
  // Removes one code unless some function may still be run with it. From any thread, not in turn.
  void free_code(const std::string& sha256);
  // The ARNs of all functions and of all their versions.
  std::set<std::string> arns() const;
  CodeStore& code() { return parts_.code; }
  // The keys of functions.
  FunctionKeys& keys() { return keys_; }

 private:
  struct Known {
    std::string document;
    std::shared_ptr<const Deployed> deployed;
  };

  std::vector<functions::Function> all_versions() const;
  Result<std::shared_ptr<const Deployed>> deploy(const functions::Function& function);
  std::map<std::string, std::string> environment_of(const functions::Function& function);

  const Parts parts_;
  Mutex mutex_;
  std::map<std::string, Known> known_ GUARDED_BY(mutex_);
  FunctionKeys keys_;
};

// The ARN of a function without its version or alias, and these alone.
std::string without_qualifier(const std::string& arn);
std::string qualifier_of(const std::string& arn);

// $LATEST or the number of a version, which is then also in its ARN.
std::string version_name(const functions::Function& function);
std::string arn_of_version(const functions::Function& function);

}  // namespace redrive::lambda
