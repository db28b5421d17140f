// Roles: create, read, update, delete, tag.

#include <fmt/format.h>

#include "aws/iam/call.h"
#include "base/text.h"
#include "core/catalogue/documents.h"

namespace redrive::iam {
namespace {

constexpr std::size_t kRoleNameMax = 64;
constexpr std::size_t kDescriptionMax = 1000;
constexpr std::int64_t kSessionSeconds = 3600;

RoleView view_of(Call& call, const Role& role) {
  return {.path = call.keep(std::string(role.path)),
          .name = call.keep(std::string(role.name)),
          .id = call.keep(std::string(role.id)),
          .arn = call.keep(role_arn(call.account(), role)),
          .created = call.keep(time_text(role.created_ms)),
          .trust = call.keep(percent_encode(role.trust, false)),
          .description = call.keep(std::string(role.description)),
          .session_seconds_max = role.session_seconds_max,
          .tags = {}};
}

// Lists leave tags out.
RoleView view_with_tags(Call& call, const Role& role) {
  RoleView view = view_of(call, role);
  view.tags = tag_list(call, role.tags);
  return view;
}

Outcome<void> check_description(std::string_view text) {
  if (text.size() <= kDescriptionMax) return {};
  return refuse(400, "ValidationError", "Description must have at most 1000 characters.");
}

}  // namespace

Outcome<RoleOutput> create_role(Call& call, const CreateRoleInput& input) {
  RETURN_IF_ERROR(check_name("RoleName", input.role_name, kRoleNameMax));
  const std::string_view path = TRY(entity_path(input.path));
  RETURN_IF_ERROR(check_document("AssumeRolePolicyDocument", input.trust));
  RETURN_IF_ERROR(check_description(input.description));
  const Tags tags = TRY(tags_of(input.tags));
  Role role{.name = input.role_name,
            .path = path,
            .description = input.description,
            .trust = input.trust,
            .session_seconds_max = input.session_seconds.value_or(kSessionSeconds),
            .tags = TextMap(tags.begin(), tags.end())};
  return call.engine().turn([&](engine::Turn& turn) -> Outcome<RoleOutput> {
    const std::string entry = role_entry(call.account(), role.name);
    if (turn.state().find_entry(queue::EntryKind::role, entry) != nullptr) {
      return refuse(
          409, "EntityAlreadyExists", fmt::format("Role with name {} already exists.", role.name));
    }
    role.id = call.keep(entity_id("AROA", turn.ids()));
    role.created_ms = turn.stamp().wall.ms();
    RETURN_IF_ERROR(put_role(turn, entry, role));
    return RoleOutput{view_with_tags(call, role)};
  });
}

Outcome<RoleOutput> get_role(Call& call, const RoleInput& input) {
  return read_role(call, input.role_name, [&](Role& role) -> Outcome<RoleOutput> {
    return RoleOutput{view_with_tags(call, role)};
  });
}

Outcome<ListRolesOutput> list_roles(Call& call, const ListRolesInput& input) {
  const auto size = static_cast<std::size_t>(input.max_items.value_or(kPageSize));
  ListRolesOutput output;
  for_each_role(call.engine(), call.account(), [&](Role& role) {
    if (role.name <= input.marker || !role.path.starts_with(input.path_prefix)) return true;
    if (!call.sees(role.name)) return true;
    output.truncated = output.roles.size() == size;
    if (!output.truncated) output.roles.push_back(view_of(call, role));
    return !output.truncated;
  });
  if (output.truncated) output.marker = output.roles.back().name;
  return output;
}

Outcome<UpdateRoleOutput> update_role(Call& call, const UpdateRoleInput& input) {
  RETURN_IF_ERROR(check_description(input.description.value_or("")));
  return change_role(
      call, input.role_name, [&](engine::Turn&, Role& role) -> Outcome<UpdateRoleOutput> {
        role.description = input.description.value_or(role.description);
        role.session_seconds_max = input.session_seconds.value_or(role.session_seconds_max);
        return UpdateRoleOutput{};
      });
}

Outcome<void> update_assume_role_policy(Call& call, const UpdateAssumeRolePolicyInput& input) {
  RETURN_IF_ERROR(check_document("PolicyDocument", input.document));
  return change_role(call, input.role_name, [&](engine::Turn&, Role& role) -> Outcome<void> {
    role.trust = input.document;
    return {};
  });
}

Outcome<void> delete_role(Call& call, const DeleteRoleInput& input) {
  return call.engine().turn([&](engine::Turn& turn) -> Outcome<void> {
    auto role = TRY(find_role(turn.state(), call.account(), input.role_name));
    if (!role->attached.empty()) {
      return refuse(409, "DeleteConflict", "Cannot delete entity, must detach all policies first.");
    }
    if (!role->inline_policies.empty()) {
      return refuse(409, "DeleteConflict", "Cannot delete entity, must delete policies first.");
    }
    catalogue::remove(turn, queue::EntryKind::role, role_entry(call.account(), input.role_name));
    return {};
  });
}

Outcome<void> tag_role(Call& call, const TagRoleInput& input) {
  const Tags tags = TRY(tags_of(input.tags));
  return change_role(
      call, input.role_name, [&](engine::Turn&, Role& role) { return add_tags(role.tags, tags); });
}

Outcome<void> untag_role(Call& call, const UntagRoleInput& input) {
  return change_role(call, input.role_name, [&](engine::Turn&, Role& role) -> Outcome<void> {
    remove_tags(role.tags, input.keys);
    return {};
  });
}

Outcome<TagsOutput> list_role_tags(Call& call, const RoleInput& input) {
  return read_role(call, input.role_name, [&](Role& role) -> Outcome<TagsOutput> {
    return TagsOutput{tag_list(call, role.tags)};
  });
}

// There are no instance profiles; Terraform lists them before it deletes a role.
Outcome<InstanceProfilesOutput> list_instance_profiles_for_role(Call& call,
                                                                const RoleInput& input) {
  return read_role(call, input.role_name, [](Role&) -> Outcome<InstanceProfilesOutput> {
    return InstanceProfilesOutput{};
  });
}

}  // namespace redrive::iam
