#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

#include "aws/iam/entities.h"
#include "aws/iam/shapes.h"
#include "base/result.h"
#include "core/engine/engine.h"
#include "front/action_table.h"
#include "net/auth/access_key.h"

namespace redrive::iam {

using front::Outcome;
using front::Refusal;
using front::refuse;

// What the actions work on.
struct Parts {
  engine::Engine& engine;
  // Called after roles or policies have changed, before the answer; may be empty.
  std::function<void()> changed = {};
};

struct Call : front::ActionCall {
  const Parts& parts;

  engine::Engine& engine() const { return parts.engine; }
  const std::string& account() const { return caller().account; }
  // Whether a list may show a role or policy of this name.
  bool sees(std::string_view name) const {
    const auth::AccessKey* const key = caller().key;
    return key == nullptr || key->role == auth::Role::scoped || key->covers(name);
  }
};

Outcome<RoleOutput> create_role(Call& call, const CreateRoleInput& input);
Outcome<RoleOutput> get_role(Call& call, const RoleInput& input);
Outcome<ListRolesOutput> list_roles(Call& call, const ListRolesInput& input);
Outcome<UpdateRoleOutput> update_role(Call& call, const UpdateRoleInput& input);
Outcome<void> update_assume_role_policy(Call& call, const UpdateAssumeRolePolicyInput& input);
Outcome<void> delete_role(Call& call, const DeleteRoleInput& input);
Outcome<void> tag_role(Call& call, const TagRoleInput& input);
Outcome<void> untag_role(Call& call, const UntagRoleInput& input);
Outcome<TagsOutput> list_role_tags(Call& call, const RoleInput& input);
Outcome<InstanceProfilesOutput> list_instance_profiles_for_role(Call& call, const RoleInput& input);
Outcome<void> put_role_policy(Call& call, const PutRolePolicyInput& input);
Outcome<RolePolicyOutput> get_role_policy(Call& call, const RolePolicyInput& input);
Outcome<void> delete_role_policy(Call& call, const DeleteRolePolicyInput& input);
Outcome<RolePoliciesOutput> list_role_policies(Call& call, const RoleInput& input);
Outcome<void> attach_role_policy(Call& call, const RoleAttachmentInput& input);
Outcome<void> detach_role_policy(Call& call, const RoleAttachmentInput& input);
Outcome<ListAttachedRolePoliciesOutput> list_attached_role_policies(
    Call& call, const ListAttachedRolePoliciesInput& input);
Outcome<PolicyOutput> create_policy(Call& call, const CreatePolicyInput& input);
Outcome<PolicyOutput> get_policy(Call& call, const PolicyInput& input);
Outcome<void> delete_policy(Call& call, const DeletePolicyInput& input);
Outcome<ListPoliciesOutput> list_policies(Call& call, const ListPoliciesInput& input);
Outcome<EntitiesOutput> list_entities_for_policy(Call& call, const PolicyInput& input);
Outcome<void> tag_policy(Call& call, const TagPolicyInput& input);
Outcome<void> untag_policy(Call& call, const UntagPolicyInput& input);
Outcome<TagsOutput> list_policy_tags(Call& call, const PolicyInput& input);
Outcome<VersionOutput> create_policy_version(Call& call, const CreatePolicyVersionInput& input);
Outcome<VersionOutput> get_policy_version(Call& call, const PolicyVersionInput& input);
Outcome<ListPolicyVersionsOutput> list_policy_versions(Call& call, const PolicyInput& input);
Outcome<void> delete_policy_version(Call& call, const ChangePolicyVersionInput& input);
Outcome<void> set_default_policy_version(Call& call, const ChangePolicyVersionInput& input);
Outcome<CallerIdentityOutput> get_caller_identity(Call& call, const NoInput& input);
Outcome<void> refuse_to_assume(Call& call, const NoInput& input);

// The inputs of actions that change something.
template <class Input, class... Others>
inline constexpr bool kIsOneOf = (std::is_same_v<Input, Others> || ...);
template <class Input>
concept ChangeInput =
    kIsOneOf<Input, CreateRoleInput, UpdateRoleInput, UpdateAssumeRolePolicyInput, DeleteRoleInput,
             TagRoleInput, UntagRoleInput, PutRolePolicyInput, DeleteRolePolicyInput,
             RoleAttachmentInput, CreatePolicyInput, DeletePolicyInput, TagPolicyInput,
             UntagPolicyInput, CreatePolicyVersionInput, ChangePolicyVersionInput>;

// What the audit log records.
template <ChangeInput Input>
front::AuditNote audit_note(const Input& input) {
  front::AuditNote note;
  if constexpr (requires { input.policy_arn; }) {
    note.resource = input.policy_arn;
  } else if constexpr (requires { input.role_name; }) {
    note.resource = input.role_name;
  } else {
    note.resource = input.policy_name;
  }
  wire::encode_json(note.request_json, input);
  return note;
}

// Shared by several of them.

std::unexpected<Refusal> no_such_entity(std::string message);

// The catalogue's name of a role. A policy is stored under its ARN.
std::string role_entry(std::string_view account, std::string_view name);
Outcome<Kept<Role>> find_role(const queue::State& state, std::string_view account,
                              std::string_view name);
Outcome<Kept<Policy>> find_policy(const queue::State& state, std::string_view arn);
Outcome<void> put_role(engine::Turn& turn, const std::string& entry, const Role& role);
Outcome<void> put_policy(engine::Turn& turn, const std::string& arn, const Policy& policy);

// Calls `work` with a role of the account, in one turn.
template <class Work>
auto read_role(Call& call, std::string_view name, Work work) {
  using Answer = std::invoke_result_t<Work, Role&>;
  return call.engine().turn([&](engine::Turn& turn) -> Answer {
    auto role = TRY(find_role(turn.state(), call.account(), name));
    return work(*role);
  });
}
// The same, and records the role as `work` left it. `work` may point it at the input's texts.
template <class Work>
auto change_role(Call& call, std::string_view name, Work work) {
  using Answer = std::invoke_result_t<Work, engine::Turn&, Role&>;
  return call.engine().turn([&](engine::Turn& turn) -> Answer {
    auto role = TRY(find_role(turn.state(), call.account(), name));
    Answer answer = work(turn, *role);
    if (answer) RETURN_IF_ERROR(put_role(turn, role_entry(call.account(), name), *role));
    return answer;
  });
}
// The same with a policy.
template <class Work>
auto change_policy(Call& call, std::string_view arn, Work work) {
  using Answer = std::invoke_result_t<Work, engine::Turn&, Policy&>;
  return call.engine().turn([&](engine::Turn& turn) -> Answer {
    auto policy = TRY(find_policy(turn.state(), arn));
    Answer answer = work(turn, *policy);
    if (answer) RETURN_IF_ERROR(put_policy(turn, std::string(arn), *policy));
    return answer;
  });
}

// Visits every role, or policy, of the account in the order of their names, until `visit` returns
// false. Takes many short turns.
void for_each_role(engine::Engine& engine, std::string_view account,
                   const std::function<bool(Role&)>& visit);
void for_each_policy(engine::Engine& engine, std::string_view account,
                     const std::function<bool(Policy&)>& visit);

// Name and path as IAM allows them; the path is / unless the request has one.
Outcome<void> check_name(std::string_view parameter, std::string_view name, std::size_t size_max);
Outcome<std::string_view> entity_path(std::optional<std::string_view> path);
// A policy document must be a JSON object. Its contents are not checked.
Outcome<void> check_document(std::string_view parameter, std::string_view text);
// A prefix and 17 random characters.
std::string entity_id(std::string_view prefix, IdSource& ids);
// 2026-01-31T23:59:59Z
std::string time_text(std::int64_t ms);

// The tags of a request, by key; the last value of a key wins.
using Tags = std::map<std::string_view, std::string_view>;
Outcome<Tags> tags_of(const TagList& given);
Outcome<void> add_tags(TextMap& tags, const Tags& given);
void remove_tags(TextMap& tags, const TextList& keys);
TagList tag_list(Call& call, const TextMap& tags);

// How many roles each policy is attached to, for those attached to any. Takes many short turns.
using Attachments = std::map<std::string, std::int64_t, std::less<>>;
Attachments count_attachments(engine::Engine& engine, std::string_view account);
std::int64_t attachments_of(const Attachments& attachments, std::string_view arn);

}  // namespace redrive::iam
