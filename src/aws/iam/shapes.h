#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/wire/shape.h"

// What travels: the inputs and outputs of the actions.

namespace redrive::iam {

using TextList = std::vector<std::string_view>;

struct Tag {
  std::string_view key;
  std::string_view value;
};
consteval auto shape_of(Tag*) {
  return wire::shape(wire::required("Key", &Tag::key), wire::required("Value", &Tag::value));
}
using TagList = std::vector<Tag>;

// The number of items in a page of a list.
template <class In>
consteval auto max_items(std::optional<std::int64_t> In::*place) {
  return wire::optional("MaxItems", place).between(1, 1000, "Must be from 1 to 1000.");
}
inline constexpr std::int64_t kPageSize = 100;

// ---- Roles

struct RoleView {
  std::string_view path;
  std::string_view name;
  std::string_view id;
  std::string_view arn;
  std::string_view created;
  std::string_view trust;  // Percent-encoded, as IAM returns it; clients decode it.
  std::string_view description;
  std::int64_t session_seconds_max = 0;
  TagList tags;
};
consteval auto shape_of(RoleView*) {
  return wire::shape(wire::required("Path", &RoleView::path),
                     wire::required("RoleName", &RoleView::name),
                     wire::required("RoleId", &RoleView::id),
                     wire::required("Arn", &RoleView::arn),
                     wire::required("CreateDate", &RoleView::created),
                     wire::required("AssumeRolePolicyDocument", &RoleView::trust),
                     wire::optional("Description", &RoleView::description),
                     wire::required("MaxSessionDuration", &RoleView::session_seconds_max),
                     wire::optional("Tags", &RoleView::tags).members());
}
struct RoleOutput {
  RoleView role;
};
consteval auto shape_of(RoleOutput*) {
  return wire::shape(wire::required("Role", &RoleOutput::role));
}

struct CreateRoleInput {
  std::string_view role_name;
  std::string_view trust;
  std::optional<std::string_view> path;
  std::string_view description;
  std::optional<std::int64_t> session_seconds;
  TagList tags;
};
template <class In>
consteval auto session_duration(std::optional<std::int64_t> In::*place) {
  return wire::optional("MaxSessionDuration", place)
      .between(3600, 43200, "Must be from 3600 to 43200.");
}
consteval auto shape_of(CreateRoleInput*) {
  using In = CreateRoleInput;
  return wire::shape(wire::required("RoleName", &In::role_name).filled(),
                     wire::required("AssumeRolePolicyDocument", &In::trust).filled(),
                     wire::optional("Path", &In::path),
                     wire::optional("Description", &In::description),
                     session_duration(&In::session_seconds),
                     wire::optional("Tags", &In::tags).members());
}

// For every action that needs nothing but a role. The inputs of changes have types of their own:
// the audit log records them.
struct RoleInput {
  std::string_view role_name;
};
consteval auto shape_of(RoleInput*) {
  return wire::shape(wire::required("RoleName", &RoleInput::role_name).filled());
}
struct DeleteRoleInput : RoleInput {};

struct UpdateRoleInput {
  std::string_view role_name;
  std::optional<std::string_view> description;
  std::optional<std::int64_t> session_seconds;
};
consteval auto shape_of(UpdateRoleInput*) {
  using In = UpdateRoleInput;
  return wire::shape(wire::required("RoleName", &In::role_name).filled(),
                     wire::optional("Description", &In::description),
                     session_duration(&In::session_seconds));
}
// An empty result, which is not the same to clients as none.
struct UpdateRoleOutput {};
consteval auto shape_of(UpdateRoleOutput*) {
  return wire::shape();
}

struct UpdateAssumeRolePolicyInput {
  std::string_view role_name;
  std::string_view document;
};
consteval auto shape_of(UpdateAssumeRolePolicyInput*) {
  using In = UpdateAssumeRolePolicyInput;
  return wire::shape(wire::required("RoleName", &In::role_name).filled(),
                     wire::required("PolicyDocument", &In::document).filled());
}

struct ListRolesInput {
  std::string_view path_prefix;
  std::string_view marker;
  std::optional<std::int64_t> max_items;
};
consteval auto shape_of(ListRolesInput*) {
  using In = ListRolesInput;
  return wire::shape(wire::optional("PathPrefix", &In::path_prefix),
                     wire::optional("Marker", &In::marker),
                     iam::max_items(&In::max_items));
}
struct ListRolesOutput {
  std::vector<RoleView> roles;
  bool truncated = false;
  std::string_view marker;
};
consteval auto shape_of(ListRolesOutput*) {
  using Out = ListRolesOutput;
  return wire::shape(wire::optional("Roles", &Out::roles).members().always(),
                     wire::required("IsTruncated", &Out::truncated),
                     wire::optional("Marker", &Out::marker));
}

struct TagRoleInput {
  std::string_view role_name;
  TagList tags;
};
consteval auto shape_of(TagRoleInput*) {
  return wire::shape(wire::required("RoleName", &TagRoleInput::role_name).filled(),
                     wire::optional("Tags", &TagRoleInput::tags).members());
}

struct UntagRoleInput {
  std::string_view role_name;
  TextList keys;
};
consteval auto shape_of(UntagRoleInput*) {
  return wire::shape(wire::required("RoleName", &UntagRoleInput::role_name).filled(),
                     wire::optional("TagKeys", &UntagRoleInput::keys).members());
}

// The tags of a role, or of a policy. All of them fit into one page.
struct TagsOutput {
  TagList tags;
  bool truncated = false;
};
consteval auto shape_of(TagsOutput*) {
  return wire::shape(wire::optional("Tags", &TagsOutput::tags).members().always(),
                     wire::required("IsTruncated", &TagsOutput::truncated));
}

struct InstanceProfilesOutput {
  TextList profiles;  // There are none.
  bool truncated = false;
};
consteval auto shape_of(InstanceProfilesOutput*) {
  using Out = InstanceProfilesOutput;
  return wire::shape(wire::optional("InstanceProfiles", &Out::profiles).members().always(),
                     wire::required("IsTruncated", &Out::truncated));
}

// ---- Policies of roles

struct PutRolePolicyInput {
  std::string_view role_name;
  std::string_view policy_name;
  std::string_view document;
};
consteval auto shape_of(PutRolePolicyInput*) {
  using In = PutRolePolicyInput;
  return wire::shape(wire::required("RoleName", &In::role_name).filled(),
                     wire::required("PolicyName", &In::policy_name).filled(),
                     wire::required("PolicyDocument", &In::document).filled());
}

struct RolePolicyInput {
  std::string_view role_name;
  std::string_view policy_name;
};
consteval auto shape_of(RolePolicyInput*) {
  return wire::shape(wire::required("RoleName", &RolePolicyInput::role_name).filled(),
                     wire::required("PolicyName", &RolePolicyInput::policy_name).filled());
}
struct DeleteRolePolicyInput : RolePolicyInput {};
struct RolePolicyOutput {
  std::string_view role_name;
  std::string_view policy_name;
  std::string_view document;  // Percent-encoded.
};
consteval auto shape_of(RolePolicyOutput*) {
  using Out = RolePolicyOutput;
  return wire::shape(wire::required("RoleName", &Out::role_name),
                     wire::required("PolicyName", &Out::policy_name),
                     wire::required("PolicyDocument", &Out::document));
}

struct RolePoliciesOutput {
  TextList names;
  bool truncated = false;
};
consteval auto shape_of(RolePoliciesOutput*) {
  return wire::shape(wire::optional("PolicyNames", &RolePoliciesOutput::names).members().always(),
                     wire::required("IsTruncated", &RolePoliciesOutput::truncated));
}

struct RoleAttachmentInput {
  std::string_view role_name;
  std::string_view policy_arn;
};
consteval auto shape_of(RoleAttachmentInput*) {
  using In = RoleAttachmentInput;
  return wire::shape(wire::required("RoleName", &In::role_name).filled(),
                     wire::required("PolicyArn", &In::policy_arn).filled());
}

struct ListAttachedRolePoliciesInput {
  std::string_view role_name;
  std::string_view path_prefix;
};
consteval auto shape_of(ListAttachedRolePoliciesInput*) {
  using In = ListAttachedRolePoliciesInput;
  return wire::shape(wire::required("RoleName", &In::role_name).filled(),
                     wire::optional("PathPrefix", &In::path_prefix));
}
struct AttachedPolicy {
  std::string_view name;
  std::string_view arn;
};
consteval auto shape_of(AttachedPolicy*) {
  return wire::shape(wire::required("PolicyName", &AttachedPolicy::name),
                     wire::required("PolicyArn", &AttachedPolicy::arn));
}
struct ListAttachedRolePoliciesOutput {
  std::vector<AttachedPolicy> attached;
  bool truncated = false;
};
consteval auto shape_of(ListAttachedRolePoliciesOutput*) {
  using Out = ListAttachedRolePoliciesOutput;
  return wire::shape(wire::optional("AttachedPolicies", &Out::attached).members().always(),
                     wire::required("IsTruncated", &Out::truncated));
}

// ---- Policies

struct PolicyView {
  std::string_view name;
  std::string_view id;
  std::string_view arn;
  std::string_view path;
  std::string_view default_version;
  std::int64_t attachments = 0;
  std::int64_t boundaries = 0;
  bool attachable = true;
  std::string_view description;
  std::string_view created;
  std::string_view updated;
  TagList tags;
};
consteval auto shape_of(PolicyView*) {
  return wire::shape(wire::required("PolicyName", &PolicyView::name),
                     wire::required("PolicyId", &PolicyView::id),
                     wire::required("Arn", &PolicyView::arn),
                     wire::required("Path", &PolicyView::path),
                     wire::required("DefaultVersionId", &PolicyView::default_version),
                     wire::required("AttachmentCount", &PolicyView::attachments),
                     wire::required("PermissionsBoundaryUsageCount", &PolicyView::boundaries),
                     wire::required("IsAttachable", &PolicyView::attachable),
                     wire::optional("Description", &PolicyView::description),
                     wire::required("CreateDate", &PolicyView::created),
                     wire::required("UpdateDate", &PolicyView::updated),
                     wire::optional("Tags", &PolicyView::tags).members());
}
struct PolicyOutput {
  PolicyView policy;
};
consteval auto shape_of(PolicyOutput*) {
  return wire::shape(wire::required("Policy", &PolicyOutput::policy));
}

struct CreatePolicyInput {
  std::string_view policy_name;
  std::string_view document;
  std::optional<std::string_view> path;
  std::string_view description;
  TagList tags;
};
consteval auto shape_of(CreatePolicyInput*) {
  using In = CreatePolicyInput;
  return wire::shape(wire::required("PolicyName", &In::policy_name).filled(),
                     wire::required("PolicyDocument", &In::document).filled(),
                     wire::optional("Path", &In::path),
                     wire::optional("Description", &In::description),
                     wire::optional("Tags", &In::tags).members());
}

// For every action that needs nothing but a policy.
struct PolicyInput {
  std::string_view policy_arn;
};
consteval auto shape_of(PolicyInput*) {
  return wire::shape(wire::required("PolicyArn", &PolicyInput::policy_arn).filled());
}
struct DeletePolicyInput : PolicyInput {};

struct ListPoliciesInput {
  std::string_view scope;
  bool only_attached = false;
  std::string_view path_prefix;
  std::string_view marker;
  std::optional<std::int64_t> max_items;
};
consteval auto shape_of(ListPoliciesInput*) {
  using In = ListPoliciesInput;
  return wire::shape(wire::optional("Scope", &In::scope),
                     wire::optional("OnlyAttached", &In::only_attached),
                     wire::optional("PathPrefix", &In::path_prefix),
                     wire::optional("Marker", &In::marker),
                     iam::max_items(&In::max_items));
}
struct ListPoliciesOutput {
  std::vector<PolicyView> policies;
  bool truncated = false;
  std::string_view marker;
};
consteval auto shape_of(ListPoliciesOutput*) {
  using Out = ListPoliciesOutput;
  return wire::shape(wire::optional("Policies", &Out::policies).members().always(),
                     wire::required("IsTruncated", &Out::truncated),
                     wire::optional("Marker", &Out::marker));
}

struct PolicyRole {
  std::string_view name;
  std::string_view id;
};
consteval auto shape_of(PolicyRole*) {
  return wire::shape(wire::required("RoleName", &PolicyRole::name),
                     wire::required("RoleId", &PolicyRole::id));
}
struct EntitiesOutput {
  std::vector<PolicyRole> roles;
  TextList users;   // There are no users,
  TextList groups;  // and no groups.
  bool truncated = false;
};
consteval auto shape_of(EntitiesOutput*) {
  return wire::shape(wire::optional("PolicyRoles", &EntitiesOutput::roles).members().always(),
                     wire::optional("PolicyUsers", &EntitiesOutput::users).members().always(),
                     wire::optional("PolicyGroups", &EntitiesOutput::groups).members().always(),
                     wire::required("IsTruncated", &EntitiesOutput::truncated));
}

struct TagPolicyInput {
  std::string_view policy_arn;
  TagList tags;
};
consteval auto shape_of(TagPolicyInput*) {
  return wire::shape(wire::required("PolicyArn", &TagPolicyInput::policy_arn).filled(),
                     wire::optional("Tags", &TagPolicyInput::tags).members());
}

struct UntagPolicyInput {
  std::string_view policy_arn;
  TextList keys;
};
consteval auto shape_of(UntagPolicyInput*) {
  return wire::shape(wire::required("PolicyArn", &UntagPolicyInput::policy_arn).filled(),
                     wire::optional("TagKeys", &UntagPolicyInput::keys).members());
}

// ---- Versions of policies

struct VersionView {
  std::string_view document;  // Percent-encoded; empty: it is not asked for.
  std::string_view id;
  bool is_default = false;
  std::string_view created;
};
consteval auto shape_of(VersionView*) {
  return wire::shape(wire::optional("Document", &VersionView::document),
                     wire::required("VersionId", &VersionView::id),
                     wire::required("IsDefaultVersion", &VersionView::is_default),
                     wire::required("CreateDate", &VersionView::created));
}
struct VersionOutput {
  VersionView version;
};
consteval auto shape_of(VersionOutput*) {
  return wire::shape(wire::required("PolicyVersion", &VersionOutput::version));
}

struct CreatePolicyVersionInput {
  std::string_view policy_arn;
  std::string_view document;
  bool set_as_default = false;
};
consteval auto shape_of(CreatePolicyVersionInput*) {
  using In = CreatePolicyVersionInput;
  return wire::shape(wire::required("PolicyArn", &In::policy_arn).filled(),
                     wire::required("PolicyDocument", &In::document).filled(),
                     wire::optional("SetAsDefault", &In::set_as_default));
}

struct PolicyVersionInput {
  std::string_view policy_arn;
  std::string_view version;
};
consteval auto shape_of(PolicyVersionInput*) {
  return wire::shape(wire::required("PolicyArn", &PolicyVersionInput::policy_arn).filled(),
                     wire::required("VersionId", &PolicyVersionInput::version).filled());
}
struct ChangePolicyVersionInput : PolicyVersionInput {};

struct ListPolicyVersionsOutput {
  std::vector<VersionView> versions;
  bool truncated = false;
};
consteval auto shape_of(ListPolicyVersionsOutput*) {
  using Out = ListPolicyVersionsOutput;
  return wire::shape(wire::optional("Versions", &Out::versions).members().always(),
                     wire::required("IsTruncated", &Out::truncated));
}

// ---- STS

struct NoInput {};
consteval auto shape_of(NoInput*) {
  return wire::shape();
}

struct CallerIdentityOutput {
  std::string_view arn;
  std::string_view user_id;
  std::string_view account;
};
consteval auto shape_of(CallerIdentityOutput*) {
  using Out = CallerIdentityOutput;
  return wire::shape(wire::required("Arn", &Out::arn),
                     wire::required("UserId", &Out::user_id),
                     wire::required("Account", &Out::account));
}

}  // namespace redrive::iam
