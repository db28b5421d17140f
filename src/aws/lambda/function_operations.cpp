#include <fmt/format.h>

#include <algorithm>

#include "aws/lambda/catalogue.h"
#include "aws/lambda/configuration.h"
#include "aws/lambda/destinations.h"
#include "aws/lambda/function_code.h"
#include "aws/lambda/operations.h"
#include "base/result.h"
#include "base/text.h"
#include "core/catalogue/documents.h"
#include "manage/documents/functions.h"

// Functions: create, get, list, update, delete.

namespace redrive::lambda {
namespace {

using queue::EntryKind;

constexpr std::size_t kFunctionsPageMax = 50;

struct CodeSigning {
  std::string_view function_name;
};
consteval auto shape_of(CodeSigning*) {
  return wire::shape(wire::required("FunctionName", &CodeSigning::function_name));
}

struct AccountUsage {
  std::int64_t code_bytes = 0;
  std::int64_t functions = 0;
};
consteval auto shape_of(AccountUsage*) {
  return wire::shape(wire::required("TotalCodeSize", &AccountUsage::code_bytes),
                     wire::required("FunctionCount", &AccountUsage::functions));
}
struct AccountSettings {
  AccountUsage usage;
};
consteval auto shape_of(AccountSettings*) {
  return wire::shape(wire::required("AccountUsage", &AccountSettings::usage));
}

// Lambda requires a role; here it is optional.
std::string role_or_default(const Call& call, std::optional<std::string_view> role) {
  if (role && !role->empty()) return std::string(*role);
  return fmt::format("arn:aws:iam::{}:role/none", call.caller.account);
}

// Giving a function a role gives it the rights of that role. A role that does not exist
// grants nothing.
Outcome<void> check_role(const Call& call, std::optional<std::string_view> role) {
  const auto parts = split(role.value_or(""), ':');
  if (parts.size() != 6 || parts[2] != "iam") return {};
  const std::string_view name = parts[5].substr(parts[5].rfind('/') + 1);
  const bool exists = call.parts.engine.turn([&](engine::Turn& turn) {
    return turn.state().find_entry(EntryKind::role, fmt::format("{}/{}", parts[4], name)) !=
           nullptr;
  });
  if (!exists) return {};
  return told<void>(front::decide(call.caller,
                                  {.name = "iam:PassRole", .right = auth::Right::look},
                                  {.kind = front::ResourceKind::role,
                                   .account = parts[4],
                                   .name = parts[5],
                                   .covered_as = name},
                                  {}));
}

Outcome<functions::Function> new_function(Call& call, const documents::FunctionSettings& input) {
  const CalledFunction called = TRY(call.function_called(input.function_name.value_or("")));
  functions::Function function{.id = called.id};
  RETURN_IF_ERROR(apply_settings(input, function));
  RETURN_IF_ERROR(check_dead_letters(call, input));
  RETURN_IF_ERROR(check_role(call, input.role));
  if (!called.is_latest()) return invalid("A function must be created without a qualifier.");
  function.role = role_or_default(call, input.role);
  for (const auto& [name, value] : input.tags) function.tags.emplace(name, value);
  const bool own = function.runtime == "command" || function.runtime == "http";
  if (input.code || !own) {
    TRY(place_code(call, input.code.value_or(documents::Code{}))).give_to(function);
  }
  return function;
}

std::string code_url(const Call& call, const functions::Function& function) {
  return fmt::format("{}://{}/_redrive/v1/functions/{}/code{}",
                     call.request.secure ? "https" : "http",
                     call.request.host,
                     function.id.name,
                     function.version.empty() ? "" : "?Qualifier=" + function.version);
}

}  // namespace

Outcome<Answer> create_function(Call& call) {
  const auto input = TRY(call.body<documents::FunctionSettings>());
  functions::Function function = TRY(new_function(call, input));
  functions::Function told = function;
  const bool made = call.parts.engine.turn([&](engine::Turn& turn) {
    if (turn.state().find_entry(EntryKind::function, function.id.arn()) != nullptr) return false;
    told =
        input.publish.value_or(false) ? save_and_publish(turn, function, "") : save(turn, function);
    return true;
  });
  if (!made) {
    return refuse(409, "ResourceConflictException", "Function already exist: " + function.id.name);
  }
  call.parts.changed();
  return json_answer(201, describe(call, told));
}

Outcome<Answer> get_function(Call& call) {
  const CalledFunction called = TRY(call.function());
  const functions::Function function = TRY(find_function(call, called));
  documents::FunctionDocument out{
      .configuration = describe(call, function),
      .code = {.repository_type = "S3", .location = call.keep(code_url(call, function))},
      .tags = {function.tags.begin(), function.tags.end()}};
  if (!called.qualifier.empty()) out.configuration.function_arn = call.keep(called.arn());
  if (function.reserved_concurrency) out.concurrency = {*function.reserved_concurrency};
  if (!function.source_kms_key_arn.empty()) {
    out.code.source_kms_key_arn = call.keep(function.source_kms_key_arn);
  }
  return json_answer(200, out);
}

Outcome<Answer> get_function_configuration(Call& call) {
  const CalledFunction called = TRY(call.function());
  const functions::Function function = TRY(find_function(call, called));
  documents::FunctionConfiguration out = describe(call, function);
  if (!called.qualifier.empty()) out.function_arn = call.keep(called.arn());
  return json_answer(200, out);
}

Outcome<Answer> list_functions(Call& call) {
  const std::size_t max = TRY(call.items_max(kFunctionsPageMax));
  const std::string after = call.query("Marker");
  const auto functions = all_functions(call);
  documents::FunctionList out;
  for (const functions::Function& each : functions) {
    if (!after.empty() && each.id.name <= after) continue;
    if (!call.may_touch(each.id)) continue;
    if (out.functions.size() == max) {
      out.next_marker = out.functions.back().function_name;
      break;
    }
    out.functions.push_back(describe(call, each));
  }
  return json_answer(200, out);
}

Outcome<Answer> update_function_configuration(Call& call) {
  const CalledFunction called = TRY(call.function());
  const auto input = TRY(call.body<documents::FunctionSettings>());
  RETURN_IF_ERROR(check_dead_letters(call, input));
  RETURN_IF_ERROR(check_role(call, input.role));
  const auto change = [&](functions::Function& function) -> Outcome<void> {
    if (input.revision_id && *input.revision_id != function.revision) return stale_revision();
    return apply_settings(input, function);
  };
  const functions::Function function = TRY(change_function(call, called, change));
  return json_answer(200, describe(call, function));
}

Outcome<Answer> delete_function(Call& call) {
  const CalledFunction called = TRY(call.function());
  if (called.qualifier == kLatest) {
    return invalid("$LATEST version cannot be deleted without deleting the function.");
  }
  if (!called.is_latest()) return delete_version(call, called);
  std::vector<std::string> arns = {called.id.arn()};
  std::set<std::string> code;
  const Outcome<void> gone = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    const functions::Function function = TRY(load_function(turn, called));
    for (const auto& version : functions::versions_of(function))
      arns.push_back(arn_of_version(version));
    code = functions::code_of(function);
    const std::string arn = called.id.arn();
    const auto configs = invoke_configs_of(turn, called.id);
    catalogue::Edits edits;
    edits.remove(EntryKind::function, arn);
    for (const std::string& config : configs) edits.remove(EntryKind::invoke_config, config);
    edits.commit(turn);
    return {};
  });
  RETURN_IF_ERROR(gone);
  for (const std::string& arn : arns) call.parts.invoker.forget(arn);
  call.parts.changed();
  free_code(call, called.id, code);
  return empty_answer(204);
}

Outcome<Answer> get_code_signing_config(Call& call) {
  const functions::Function function = TRY(called_function(call));
  return json_answer(200, CodeSigning{function.id.name});
}

Outcome<Answer> get_account_settings(Call& call) {
  AccountSettings out;
  for (const functions::Function& each : all_functions(call)) {
    if (!call.may_touch(each.id)) continue;
    ++out.usage.functions;
    out.usage.code_bytes += static_cast<std::int64_t>(each.code_size);
  }
  return json_answer(200, out);
}

}  // namespace redrive::lambda
