// Roles: made, shown, changed, removed.

#include <fmt/format.h>

#include <algorithm>

#include "aws/iam/call.h"
#include "base/result.h"
#include "base/text.h"

namespace redrive::iam {
namespace {

constexpr std::size_t kRoleNameMax = 64;
constexpr std::size_t kDescriptionMax = 1000;
constexpr std::int64_t kSessionSecondsMin = 3600;
constexpr std::int64_t kSessionSecondsMax = 43200;

void write_role_fields(Xml& out, std::string_view account, const Role& role, bool with_tags) {
  out.text("Path", role.path);
  out.text("RoleName", role.name);
  out.text("RoleId", role.id);
  out.text("Arn", role_arn(account, role));
  out.time("CreateDate", Timestamp(role.created_ms));
  // As IAM does: readers decode it.
  out.text("AssumeRolePolicyDocument", percent_encode(role.trust, false));
  if (!role.description.empty()) out.text("Description", role.description);
  out.number("MaxSessionDuration", role.session_seconds_max);
  if (with_tags && !role.tags.empty()) write_tags(out, role.tags);
}

void write_role(Xml& out, std::string_view account, const Role& role) {
  out.element("Role", [&] { write_role_fields(out, account, role, true); });
}

Outcome<std::string> description_of(const Form& form) {
  const std::string_view text = form.text("Description");
  if (text.size() <= kDescriptionMax) return std::string(text);
  return refuse(400, "ValidationError", "Description must have at most 1000 characters.");
}

Outcome<std::int64_t> session_seconds(const Form& form, std::int64_t otherwise) {
  return form.number("MaxSessionDuration", otherwise, kSessionSecondsMin, kSessionSecondsMax);
}

}  // namespace

Outcome<void> create_role(Call& call) {
  const std::string name = TRY(entity_name(call.form, "RoleName", kRoleNameMax));
  const std::string path = TRY(entity_path(call.form));
  const std::string trust = TRY(policy_text(call.form, "AssumeRolePolicyDocument"));
  const std::string description = TRY(description_of(call.form));
  const Tags tags = TRY(call.form.tags());
  Role role{.name = name, .path = path, .description = description, .trust = trust};
  role.session_seconds_max = TRY(session_seconds(call.form, kSessionSecondsMin));
  set_tags(role.tags, tags);
  return call.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    const std::string entry = role_entry(call.account(), name);
    if (turn.state().find_entry(queue::EntryKind::role, entry) != nullptr) {
      return refuse(
          409, "EntityAlreadyExists", fmt::format("Role with name {} already exists.", name));
    }
    const std::string id = entity_id("AROA", turn.ids());
    role.id = id;
    role.created_ms = turn.stamp().wall.ms();
    RETURN_IF_ERROR(put_role(turn, call.account(), role));
    write_role(call.out, call.account(), role);
    return {};
  });
}

Outcome<void> get_role(Call& call) {
  return with_role(call, Access::read, [&](engine::Turn&, Role& role) -> Outcome<void> {
    write_role(call.out, call.account(), role);
    return {};
  });
}

Outcome<void> list_roles(Call& call) {
  const PageRequest page = TRY(page_request(call.form));
  Xml members;
  std::string last;
  std::string next;
  std::int64_t count = 0;
  for_each_role(call.engine, call.account(), [&](Role& role) {
    if (role.name <= page.after || !role.path.starts_with(page.path_prefix)) return true;
    if (!call.sees(role.name)) return true;
    if (count == page.size) {
      next = last;
      return false;
    }
    members.element("member", [&] { write_role_fields(members, call.account(), role, false); });
    last = role.name;
    ++count;
    return true;
  });
  call.out.nest("Roles", members);
  write_page_end(call.out, next);
  return {};
}

Outcome<void> update_role(Call& call) {
  const std::string description = TRY(description_of(call.form));
  return with_role(call, Access::change, [&](engine::Turn&, Role& role) -> Outcome<void> {
    if (call.form.find("Description")) role.description = description;
    role.session_seconds_max = TRY(session_seconds(call.form, role.session_seconds_max));
    call.out.has_result();
    return {};
  });
}

Outcome<void> update_assume_role_policy(Call& call) {
  const std::string trust = TRY(policy_text(call.form, "PolicyDocument"));
  return with_role(call, Access::change, [&](engine::Turn&, Role& role) -> Outcome<void> {
    role.trust = trust;
    return {};
  });
}

Outcome<void> delete_role(Call& call) {
  return with_role(call, Access::read, [&](engine::Turn& turn, Role& role) -> Outcome<void> {
    if (!role.attached.empty()) {
      return refuse(409, "DeleteConflict", "Cannot delete entity, must detach all policies first.");
    }
    if (!role.inline_policies.empty()) {
      return refuse(409, "DeleteConflict", "Cannot delete entity, must delete policies first.");
    }
    const std::string entry = role_entry(call.account(), role.name);
    turn.commit(queue::EntryRemoved{queue::EntryKind::role, entry});
    return {};
  });
}

Outcome<void> tag_role(Call& call) {
  const Tags tags = TRY(call.form.tags());
  return with_role(call, Access::change, [&](engine::Turn&, Role& role) -> Outcome<void> {
    return add_tags(role.tags, tags);
  });
}

Outcome<void> untag_role(Call& call) {
  return with_role(call, Access::change, [&](engine::Turn&, Role& role) -> Outcome<void> {
    remove_tags(role.tags, call.form.list("TagKeys"));
    return {};
  });
}

Outcome<void> list_role_tags(Call& call) {
  return with_role(call, Access::read, [&](engine::Turn&, Role& role) -> Outcome<void> {
    write_tags(call.out, role.tags);
    write_page_end(call.out, "");
    return {};
  });
}

// There are no instance profiles; Terraform asks before it deletes a role.
Outcome<void> list_instance_profiles_for_role(Call& call) {
  return with_role(call, Access::read, [&](engine::Turn&, Role&) -> Outcome<void> {
    call.out.element("InstanceProfiles", [] {});
    write_page_end(call.out, "");
    return {};
  });
}

}  // namespace redrive::iam
