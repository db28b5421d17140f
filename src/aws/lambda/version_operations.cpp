#include <fmt/format.h>

#include <algorithm>

#include "aws/lambda/catalogue.h"
#include "aws/lambda/configuration.h"
#include "aws/lambda/operations.h"
#include "base/result.h"
#include "core/catalogue/documents.h"
#include "functions/definitions/codec.h"
#include "manage/documents/functions.h"

// Versions and aliases of functions.

namespace redrive::lambda {
namespace {

constexpr std::size_t kAliasNameMax = 128;

std::string alias_arn(const functions::Function& function, const std::string& name) {
  return fmt::format("{}:{}", function.id.arn(), name);
}

documents::AliasDocument describe_alias(Call& call, const functions::Function& function,
                                        const functions::Alias& alias) {
  return {.alias_arn = call.keep(alias_arn(function, alias.name)),
          .name = call.keep(alias.name),
          .function_version = call.keep(alias.version),
          .description = call.keep(alias.description),
          .revision_id = call.keep(alias.revision)};
}

bool is_alias_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_';
  };
  return !name.empty() && name.size() <= kAliasNameMax && std::ranges::all_of(name, fits) &&
         !functions::is_version_number(name);
}

std::unexpected<Refusal> no_such_alias(const functions::Function& function,
                                       const std::string& name) {
  return not_found("Cannot find alias arn: " + alias_arn(function, name));
}

Outcome<void> give_version(functions::Alias& alias, const functions::Function& function,
                           std::string_view version) {
  const bool known = version == kLatest || function.versions.contains(std::string(version));
  if (!known)
    return not_found(fmt::format("Function not found: {}:{}", function.id.arn(), version));
  alias.version = version;
  return {};
}

// Removes the permissions and the invoke configuration of a deleted version or alias, and stores
// the function.
void forget_qualifier(engine::Turn& turn, functions::Function& function,
                      const std::string& qualifier) {
  std::erase_if(function.permissions,
                [&](const auto& entry) { return entry.first.starts_with(qualifier + "/"); });
  const std::string arn = function.id.arn();
  const std::string config = arn + ":" + qualifier;
  catalogue::Edits edits;
  edits.put(queue::EntryKind::function, arn, functions::encode(function));
  if (turn.state().find_entry(queue::EntryKind::invoke_config, config) != nullptr) {
    edits.remove(queue::EntryKind::invoke_config, config);
  }
  edits.commit(turn);
}

// Calls `change(Function&)`, which returns an alias, in a turn, and stores the function.
template <class Change>
Outcome<Answer> change_alias(Call& call, int status, Change change) {
  const CalledFunction called = TRY(call.function());
  functions::Function function;
  const auto alias = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<functions::Alias> {
    auto loaded = load_function(turn, called);
    if (!loaded) return std::unexpected(loaded.error());
    function = *std::move(loaded);
    functions::Alias made = TRY(change(function));
    made.revision = turn.ids().uuid().text();
    const auto before = functions::find_alias(function, made.name);
    function.aliases[made.name] = functions::encode(made);
    const auto version = functions::find_version(function, made.version);
    const bool moved = !before || before->version != made.version;
    if (moved && version && !version->code_sha256.empty()) {
      keep_deployed(turn, function, *version);
    } else {
      keep(turn, function);
    }
    return made;
  });
  if (!alias) return std::unexpected(alias.error());
  call.parts.changed();
  return json_answer(status, describe_alias(call, function, *alias));
}

}  // namespace

Outcome<Answer> publish_function_version(Call& call) {
  const CalledFunction called = TRY(call.function());
  const auto input = TRY(call.body<documents::PublishInput>());
  const functions::Function latest = TRY(find_function(call, called));
  if (input.revision_id && *input.revision_id != latest.revision) return stale_revision();
  if (input.code_sha256 && *input.code_sha256 != latest.code_sha256) {
    return invalid(fmt::format(
        "CodeSHA256 ({}) is different from current CodeSHA256 in $LATEST ({}). Please try again "
        "with the CodeSHA256 in $LATEST.",
        *input.code_sha256,
        latest.code_sha256));
  }
  const functions::Function version =
      TRY(publish_version(call, called, std::string(input.description.value_or(""))));
  return json_answer(201, describe(call, version));
}

Outcome<Answer> list_versions(Call& call) {
  const functions::Function function = TRY(called_function(call));
  documents::VersionList out{.versions = {describe(call, function)}};
  out.versions.front().function_arn = call.keep(fmt::format("{}:{}", function.id.arn(), kLatest));
  const auto versions = functions::versions_of(function);
  for (const functions::Function& version : versions)
    out.versions.push_back(describe(call, version));
  return json_answer(200, out);
}

Outcome<Answer> delete_version(Call& call, const CalledFunction& called) {
  std::set<std::string> code;
  const auto gone = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    functions::Function function =
        TRY(load_function(turn, CalledFunction{.id = called.id, .qualifier = {}}));
    for (const functions::Alias& alias : functions::aliases_of(function)) {
      if (alias.version != called.qualifier) continue;
      return refuse(409,
                    "ResourceConflictException",
                    fmt::format("Version {} is in use by alias {}.", alias.version, alias.name));
    }
    code = functions::code_of(function);
    if (function.versions.erase(called.qualifier) == 0) return no_such_function(called);
    forget_qualifier(turn, function, called.qualifier);
    for (const std::string& sha256 : functions::code_of(function)) code.erase(sha256);
    return {};
  });
  RETURN_IF_ERROR(gone);
  call.parts.invoker.forget(called.arn());
  call.parts.changed();
  free_code(call, called.id, code);
  return empty_answer(204);
}

Outcome<Answer> create_alias(Call& call) {
  const auto input = TRY(call.body<documents::AliasInput>());
  return change_alias(
      call, 201, [&](const functions::Function& function) -> Outcome<functions::Alias> {
        functions::Alias alias{.name = std::string(input.name.value_or("")),
                               .version = {},
                               .description = std::string(input.description.value_or("")),
                               .revision = {}};
        if (!is_alias_name(alias.name)) {
          return breaks_constraint(
              alias.name,
              "name",
              "satisfy regular expression pattern: (?!^[0-9]+$)([a-zA-Z0-9-_]+)");
        }
        if (function.aliases.contains(alias.name)) {
          return refuse(409,
                        "ResourceConflictException",
                        "Alias already exists: " + alias_arn(function, alias.name));
        }
        RETURN_IF_ERROR(give_version(alias, function, input.function_version.value_or("")));
        return alias;
      });
}

Outcome<Answer> update_alias(Call& call) {
  const auto input = TRY(call.body<documents::AliasInput>());
  const std::string name(call.parameter("alias"));
  return change_alias(
      call, 200, [&](const functions::Function& function) -> Outcome<functions::Alias> {
        auto alias = functions::find_alias(function, name);
        if (!alias) return no_such_alias(function, name);
        if (input.revision_id && *input.revision_id != alias->revision) return stale_revision();
        if (input.description) alias->description = *input.description;
        if (input.function_version)
          RETURN_IF_ERROR(give_version(*alias, function, *input.function_version));
        return *std::move(alias);
      });
}

Outcome<Answer> get_alias(Call& call) {
  const functions::Function function = TRY(called_function(call));
  const std::string name(call.parameter("alias"));
  const auto alias = functions::find_alias(function, name);
  if (!alias) return no_such_alias(function, name);
  return json_answer(200, describe_alias(call, function, *alias));
}

Outcome<Answer> list_aliases(Call& call) {
  const functions::Function function = TRY(called_function(call));
  const std::string version = call.query("FunctionVersion");
  documents::AliasList out;
  for (const functions::Alias& alias : functions::aliases_of(function)) {
    if (version.empty() || alias.version == version)
      out.aliases.push_back(describe_alias(call, function, alias));
  }
  return json_answer(200, out);
}

Outcome<Answer> delete_alias(Call& call) {
  const CalledFunction called = TRY(call.function());
  const std::string name(call.parameter("alias"));
  const auto gone = call.parts.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    functions::Function function = TRY(load_function(turn, called));
    function.aliases.erase(name);
    forget_qualifier(turn, function, name);
    return {};
  });
  RETURN_IF_ERROR(gone);
  call.parts.changed();
  return empty_answer(204);
}

}  // namespace redrive::lambda
