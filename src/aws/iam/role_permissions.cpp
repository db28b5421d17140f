#include "aws/iam/role_permissions.h"

#include <fmt/format.h>

#include <algorithm>

#include "aws/iam/call.h"
#include "aws/iam/entities.h"
#include "aws/iam/policy_statements.h"

namespace redrive::iam {
namespace {

using queue::EntryKind;
using Statements = std::vector<auth::Statement>;

void append_statements(Statements& all, Statements more) {
  std::ranges::move(more, std::back_inserter(all));
}

std::optional<std::string> entry_text(engine::Engine& engine, EntryKind kind,
                                      const std::string& name) {
  return engine.turn([&](engine::Turn& turn) -> std::optional<std::string> {
    const std::string* const found = turn.state().find_entry(kind, name);
    return found == nullptr ? std::nullopt : std::optional(*found);
  });
}

// What cannot be read denies everything.
Statements attached_statements(engine::Engine& engine, std::string_view arn) {
  if (is_aws_managed(arn)) return aws_managed_statements(arn);
  const auto text = entry_text(engine, EntryKind::role_policy, std::string(arn));
  if (!text) return statements_of("");
  Kept<Policy> policy(*text);
  if (!policy.ok()) return statements_of("");
  const auto version =
      std::ranges::find(policy->versions, policy->default_version, &PolicyVersion::number);
  return statements_of(version == policy->versions.end() ? "" : version->document);
}

}  // namespace

std::optional<Statements> role_permissions(engine::Engine& engine, std::string_view account,
                                           std::string_view role_arn) {
  const std::string prefix = fmt::format("arn:aws:iam::{}:role/", account);
  if (!role_arn.starts_with(prefix)) return std::nullopt;
  const auto text = entry_text(engine, EntryKind::role, role_entry(account, name_of_arn(role_arn)));
  if (!text) return std::nullopt;
  Kept<Role> role(*text);
  if (!role.ok() || iam::role_arn(account, *role) != role_arn) return std::nullopt;
  Statements all;
  for (const auto& [name, document] : role->inline_policies) {
    append_statements(all, statements_of(document));
  }
  for (const std::string_view arn : role->attached) {
    append_statements(all, attached_statements(engine, arn));
  }
  return all;
}

std::string role_id(engine::Engine& engine, std::string_view account, std::string_view role_arn) {
  const auto text = entry_text(engine, EntryKind::role, role_entry(account, name_of_arn(role_arn)));
  if (!text) return {};
  Kept<Role> role(*text);
  if (!role.ok() || iam::role_arn(account, *role) != role_arn) return {};
  return std::string(role->id);
}

}  // namespace redrive::iam
