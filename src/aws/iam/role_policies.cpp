// The policies of roles: written into them, or attached to them.

#include <fmt/format.h>

#include <algorithm>

#include "aws/iam/call.h"
#include "base/result.h"
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

Outcome<void> put_role_policy(Call& call) {
  const std::string name = TRY(entity_name(call.form, "PolicyName", kInlineNameMax));
  const std::string text = TRY(policy_text(call.form, "PolicyDocument"));
  return with_role(call, Access::change, [&](engine::Turn&, Role& role) -> Outcome<void> {
    const auto found = find_inline(role, name);
    if (found != role.inline_policies.end()) {
      found->second = text;
    } else {
      role.inline_policies.emplace_back(name, text);
    }
    return {};
  });
}

Outcome<void> get_role_policy(Call& call) {
  const std::string name = TRY(call.form.required("PolicyName"));
  return with_role(call, Access::read, [&](engine::Turn&, Role& role) -> Outcome<void> {
    const auto found = find_inline(role, name);
    if (found == role.inline_policies.end()) return no_such_inline_policy(name);
    call.out.text("RoleName", role.name);
    call.out.text("PolicyName", name);
    call.out.text("PolicyDocument", percent_encode(found->second, false));
    return {};
  });
}

Outcome<void> delete_role_policy(Call& call) {
  const std::string name = TRY(call.form.required("PolicyName"));
  return with_role(call, Access::change, [&](engine::Turn&, Role& role) -> Outcome<void> {
    const auto found = find_inline(role, name);
    if (found == role.inline_policies.end()) return no_such_inline_policy(name);
    role.inline_policies.erase(found);
    return {};
  });
}

Outcome<void> list_role_policies(Call& call) {
  return with_role(call, Access::read, [&](engine::Turn&, Role& role) -> Outcome<void> {
    call.out.element("PolicyNames", [&] {
      for (const auto& [name, text] : role.inline_policies) call.out.text("member", name);
    });
    write_page_end(call.out, "");
    return {};
  });
}

// Policies of AWS can always be attached; those of this account must exist.
Outcome<void> attach_role_policy(Call& call) {
  const std::string arn = TRY(call.form.required("PolicyArn"));
  const auto lock = call.engine.lock_catalogue();  // The policy is not deleted meanwhile.
  return with_role(call, Access::change, [&](engine::Turn& turn, Role& role) -> Outcome<void> {
    const bool known = is_aws_managed(arn) ||
                       turn.state().find_entry(queue::EntryKind::role_policy, arn) != nullptr;
    if (!known) {
      return no_such_entity(fmt::format("Policy {} does not exist or is not attachable.", arn));
    }
    if (std::ranges::find(role.attached, arn) != role.attached.end()) return {};
    if (role.attached.size() == kAttachedMax) {
      return refuse(409, "LimitExceeded", "Cannot exceed quota for PoliciesPerRole: 20");
    }
    role.attached.push_back(arn);
    return {};
  });
}

Outcome<void> detach_role_policy(Call& call) {
  const std::string arn = TRY(call.form.required("PolicyArn"));
  return with_role(call, Access::change, [&](engine::Turn&, Role& role) -> Outcome<void> {
    if (std::erase(role.attached, arn) > 0) return {};
    return no_such_entity(fmt::format("Policy {} was not found.", arn));
  });
}

Outcome<void> list_attached_role_policies(Call& call) {
  const std::string_view prefix = call.form.text("PathPrefix");
  return with_role(call, Access::read, [&](engine::Turn&, Role& role) -> Outcome<void> {
    call.out.element("AttachedPolicies", [&] {
      for (const std::string_view arn : role.attached) {
        const std::string_view path = arn.substr(std::min(arn.find('/'), arn.size()));
        if (!path.starts_with(prefix)) continue;
        call.out.element("member", [&] {
          call.out.text("PolicyName", name_of_arn(arn));
          call.out.text("PolicyArn", arn);
        });
      }
    });
    write_page_end(call.out, "");
    return {};
  });
}

}  // namespace redrive::iam
