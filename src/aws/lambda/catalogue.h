#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "aws/lambda/call.h"
#include "functions/definitions/codec.h"
#include "functions/definitions/versions.h"

// Functions and mappings in the catalogue.

namespace redrive::lambda {

// In turn. The unpublished function, which can be changed.
Outcome<functions::Function> load_function(engine::Turn& turn, const CalledFunction& called);
// The version that the qualifier names.
Outcome<functions::Function> load_version(engine::Turn& turn, const CalledFunction& called);
Outcome<functions::Mapping> load_mapping(engine::Turn& turn, const std::string& id);
void keep(engine::Turn& turn, const functions::Function& function);
void keep(engine::Turn& turn, const functions::Mapping& mapping);
// The same, in one record with the deployment of the code of `deployed`, which is the function or a
// version of it.
void keep_deployed(engine::Turn& turn, const functions::Function& function,
                   const functions::Function& deployed);
// The same with a new revision and modification time.
const functions::Function& save(engine::Turn& turn, functions::Function& function);
functions::Function save_and_publish(engine::Turn& turn, functions::Function& function,
                                     const std::string& description);
void save(engine::Turn& turn, functions::Mapping& mapping);

// The function, or the version that the qualifier names.
Outcome<functions::Function> find_function(const Call& call, const CalledFunction& called);
// The function of the path.
Outcome<functions::Function> called_function(const Call& call);

// Deletes code that no function uses any more or used recently.
void free_code(Call& call, const functions::FunctionId& function,
               const std::set<std::string>& sha256s);

// Calls `change(Function&)` in a turn, stores the function, and notifies Parts::changed.
template <class Change>
Outcome<functions::Function> change_function(Call& call, const CalledFunction& called,
                                             Change change) {
  std::set<std::string> code_before;
  auto changed = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<functions::Function> {
    auto function = load_function(turn, called);
    if (!function) return function;
    code_before = functions::code_of(*function);
    const Outcome<void> done = change(*function);
    if (!done) return std::unexpected(done.error());
    save(turn, *function);
    return function;
  });
  if (changed) {
    call.parts.invoker.retire(called.id.arn());
    call.parts.changed();
    for (const std::string& sha256 : functions::code_of(*changed)) code_before.erase(sha256);
    free_code(call, called.id, code_before);
  }
  return changed;
}

// Publishes the current function as a version.
Outcome<functions::Function> publish_version(Call& call, const CalledFunction& called,
                                             const std::string& description);

// Refuses a mapping of another account, or of a queue or function that the caller's key does not
// cover. The second is for use in turn.
Outcome<void> may_touch(const Call& call, const functions::Mapping& mapping);
Outcome<void> may_touch(const Call& call, engine::Turn& turn, const functions::Mapping& mapping);

// The ARNs whose asynchronous invocations are configured: of the function, its versions and its
// aliases. In turn.
std::vector<std::string> invoke_configs_of(engine::Turn& turn, const functions::FunctionId& id);

// All functions, or mappings, of the caller's account and region, ordered by name.
std::vector<functions::Function> all_functions(const Call& call);
std::vector<functions::Mapping> all_mappings(const Call& call);

std::unexpected<Refusal> no_such_function(const CalledFunction& called);
std::unexpected<Refusal> no_such_resource();
std::unexpected<Refusal> stale_revision();

}  // namespace redrive::lambda
