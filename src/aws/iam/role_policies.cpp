// The policies of roles: inline, or attached.

#include <fmt/format.h>

#include <algorithm>

#include "aws/iam/call.h"
#include "base/text.h"

namespace redrive::iam {
namespace {

constexpr std::size_t kInlineNameMax = 128;
constexpr std::size_t kAttachedMax = 20;

TextMap::iterator find_inline(Role& role, std::string_view name) {
  return std::ranges::find(role.inline_policies, name, &TextMap::value_type::first);
}

std::unexpected<Refusal> no_such_inline_policy(std::string_view name) {
  return no_such_entity(fmt::format("The role policy with name {} cannot be found.", name));
}

}  // namespace

Outcome<void> put_role_policy(Call& call, const PutRolePolicyInput& input) {
  RETURN_IF_ERROR(check_name("PolicyName", input.policy_name, kInlineNameMax));
  RETURN_IF_ERROR(check_document("PolicyDocument", input.document));
  return change_role(call, input.role_name, [&](engine::Turn&, Role& role) -> Outcome<void> {
    const auto found = find_inline(role, input.policy_name);
    if (found != role.inline_policies.end()) {
      found->second = input.document;
    } else {
      role.inline_policies.emplace_back(input.policy_name, input.document);
    }
    return {};
  });
}

Outcome<RolePolicyOutput> get_role_policy(Call& call, const RolePolicyInput& input) {
  return read_role(call, input.role_name, [&](Role& role) -> Outcome<RolePolicyOutput> {
    const auto found = find_inline(role, input.policy_name);
    if (found == role.inline_policies.end()) return no_such_inline_policy(input.policy_name);
    return RolePolicyOutput{.role_name = input.role_name,
                            .policy_name = input.policy_name,
                            .document = call.keep(percent_encode(found->second, false))};
  });
}

Outcome<void> delete_role_policy(Call& call, const DeleteRolePolicyInput& input) {
  return change_role(call, input.role_name, [&](engine::Turn&, Role& role) -> Outcome<void> {
    const auto found = find_inline(role, input.policy_name);
    if (found == role.inline_policies.end()) return no_such_inline_policy(input.policy_name);
    role.inline_policies.erase(found);
    return {};
  });
}

Outcome<RolePoliciesOutput> list_role_policies(Call& call, const RoleInput& input) {
  return read_role(call, input.role_name, [&](Role& role) -> Outcome<RolePoliciesOutput> {
    RolePoliciesOutput output;
    for (const auto& [name, text] : role.inline_policies) {
      output.names.push_back(call.keep(std::string(name)));
    }
    return output;
  });
}

// Policies of AWS can always be attached; those of this account must exist.
Outcome<void> attach_role_policy(Call& call, const RoleAttachmentInput& input) {
  const std::string arn(input.policy_arn);
  const auto lock = call.engine().lock_catalogue();  // The policy is not deleted meanwhile.
  return change_role(call, input.role_name, [&](engine::Turn& turn, Role& role) -> Outcome<void> {
    const bool known = is_aws_managed(arn) ||
                       turn.state().find_entry(queue::EntryKind::role_policy, arn) != nullptr;
    if (!known) {
      return no_such_entity(fmt::format("Policy {} does not exist or is not attachable.", arn));
    }
    if (std::ranges::find(role.attached, arn) != role.attached.end()) return {};
    if (role.attached.size() == kAttachedMax) {
      return refuse(409, "LimitExceeded", "Cannot exceed quota for PoliciesPerRole: 20");
    }
    role.attached.push_back(input.policy_arn);
    return {};
  });
}

Outcome<void> detach_role_policy(Call& call, const RoleAttachmentInput& input) {
  return change_role(call, input.role_name, [&](engine::Turn&, Role& role) -> Outcome<void> {
    if (std::erase(role.attached, input.policy_arn) > 0) return {};
    return no_such_entity(fmt::format("Policy {} was not found.", input.policy_arn));
  });
}

Outcome<ListAttachedRolePoliciesOutput> list_attached_role_policies(
    Call& call, const ListAttachedRolePoliciesInput& input) {
  using Output = ListAttachedRolePoliciesOutput;
  return read_role(call, input.role_name, [&](Role& role) -> Outcome<Output> {
    Output output;
    for (const std::string_view arn : role.attached) {
      const std::string_view path = arn.substr(std::min(arn.find('/'), arn.size()));
      if (!path.starts_with(input.path_prefix)) continue;
      const std::string_view kept = call.keep(std::string(arn));
      output.attached.push_back({.name = name_of_arn(kept), .arn = kept});
    }
    return output;
  });
}

}  // namespace redrive::iam
