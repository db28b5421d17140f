// Policies of the account's own, with their versions.

#include <fmt/format.h>

#include <algorithm>

#include "aws/iam/call.h"
#include "base/result.h"
#include "base/text.h"

namespace redrive::iam {
namespace {

constexpr std::size_t kPolicyNameMax = 128;
constexpr std::size_t kVersionsMax = 5;

std::string version_name(std::int64_t number) {
  return fmt::format("v{}", number);
}

// Asking for one of AWS's policies shows that it is there, not what it says.
constexpr std::string_view kNothingSaid = R"({"Version":"2012-10-17","Statement":[]})";

Policy aws_managed(std::string_view arn) {
  const std::string_view whole = arn.substr(arn.find(":policy/") + 7);
  return {.name = name_of_arn(arn),
          .id = "ANPAAWSMANAGEDPOLICY0",
          .path = whole.substr(0, whole.rfind('/') + 1),
          .description = "An AWS managed policy, of which Redrive knows only the name.",
          .versions = {{.number = 1, .document = kNothingSaid}}};
}

// Reads a policy of the account, or one of AWS.
Outcome<void> look_at_policy(
    Call& call,
    const std::function<Outcome<void>(engine::Turn&, Policy&, std::string_view)>& look) {
  const std::string arn = TRY(call.form.required("PolicyArn"));
  if (is_aws_managed(arn)) {
    return call.engine.turn([&](engine::Turn& turn) {
      Policy policy = aws_managed(arn);
      return look(turn, policy, arn);
    });
  }
  return with_policy(call, Access::read, [&](engine::Turn& turn, Policy& policy) {
    return look(turn, policy, arn);
  });
}

void write_policy_fields(Xml& out, std::string_view arn, const Policy& policy,
                         std::int64_t attachments) {
  out.text("PolicyName", policy.name);
  out.text("PolicyId", policy.id);
  out.text("Arn", arn);
  out.text("Path", policy.path);
  out.text("DefaultVersionId", version_name(policy.default_version));
  out.number("AttachmentCount", attachments);
  out.number("PermissionsBoundaryUsageCount", 0);
  out.flag("IsAttachable", true);
  if (!policy.description.empty()) out.text("Description", policy.description);
  out.time("CreateDate", Timestamp(policy.created_ms));
  out.time("UpdateDate", Timestamp(policy.updated_ms));
  if (!policy.tags.empty()) write_tags(out, policy.tags);
}

void write_version(Xml& out, const Policy& policy, const PolicyVersion& version,
                   bool with_document) {
  if (with_document) out.text("Document", percent_encode(version.document, false));
  out.text("VersionId", version_name(version.number));
  out.flag("IsDefaultVersion", version.number == policy.default_version);
  out.time("CreateDate", Timestamp(version.created_ms));
}

std::unexpected<Refusal> no_such_version(std::string_view name) {
  return no_such_entity(fmt::format("Policy version {} cannot be found.", name));
}

std::vector<PolicyVersion>::iterator find_version(Policy& policy, std::string_view name) {
  return std::ranges::find_if(policy.versions, [&](const PolicyVersion& version) {
    return version_name(version.number) == name;
  });
}

}  // namespace

Outcome<void> create_policy(Call& call) {
  const std::string name = TRY(entity_name(call.form, "PolicyName", kPolicyNameMax));
  const std::string path = TRY(entity_path(call.form));
  const std::string text = TRY(policy_text(call.form, "PolicyDocument"));
  const std::string description(call.form.text("Description"));
  const Tags tags = TRY(call.form.tags());
  Policy policy{.name = name, .path = path, .description = description};
  set_tags(policy.tags, tags);
  const auto lock = call.engine.lock_catalogue();
  bool taken = false;  // Names are unique whatever the path.
  for_each_policy(call.engine, call.account(), [&](Policy& other) {
    taken = other.name == name;
    return !taken;
  });
  if (taken) {
    return refuse(409,
                  "EntityAlreadyExists",
                  fmt::format("A policy called {} already exists. Duplicate names are not "
                              "allowed.",
                              name));
  }
  return call.engine.turn([&](engine::Turn& turn) -> Outcome<void> {
    const std::string id = entity_id("ANPA", turn.ids());
    policy.id = id;
    policy.created_ms = policy.updated_ms = turn.stamp().wall.ms();
    policy.versions = {{.number = 1, .document = text, .created_ms = policy.created_ms}};
    RETURN_IF_ERROR(put_policy(turn, call.account(), policy));
    call.out.element("Policy", [&] {
      write_policy_fields(call.out, policy_arn(call.account(), policy), policy, 0);
    });
    return {};
  });
}

Outcome<void> get_policy(Call& call) {
  const Attachments attachments = count_attachments(call.engine, call.account());
  return look_at_policy(
      call, [&](engine::Turn&, Policy& policy, std::string_view arn) -> Outcome<void> {
        const std::int64_t count = attachments_of(attachments, arn);
        call.out.element("Policy", [&] { write_policy_fields(call.out, arn, policy, count); });
        return {};
      });
}

Outcome<void> delete_policy(Call& call) {
  const auto lock = call.engine.lock_catalogue();  // Nothing is attached meanwhile.
  const Attachments attachments = count_attachments(call.engine, call.account());
  return with_policy(call, Access::read, [&](engine::Turn& turn, Policy& policy) -> Outcome<void> {
    const std::string arn = policy_arn(call.account(), policy);
    if (attachments_of(attachments, arn) > 0) {
      return refuse(409, "DeleteConflict", "Cannot delete a policy attached to entities.");
    }
    if (policy.versions.size() > 1) {
      return refuse(409,
                    "DeleteConflict",
                    "This policy has more than one version. Before you delete a policy, you must "
                    "delete the policy's versions.");
    }
    turn.commit(queue::EntryRemoved{queue::EntryKind::role_policy, arn});
    return {};
  });
}

// Those of the account; nobody keeps a list of those of AWS.
Outcome<void> list_policies(Call& call) {
  const PageRequest page = TRY(page_request(call.form));
  const bool attached_only = call.form.text("OnlyAttached") == "true";
  Xml members;
  std::string last;
  std::string next;
  std::int64_t count = 0;
  const Attachments counts = count_attachments(call.engine, call.account());
  const auto visit = [&](Policy& policy) {
    const std::string arn = policy_arn(call.account(), policy);
    if (arn <= page.after || !policy.path.starts_with(page.path_prefix)) return true;
    if (!call.sees(policy.name)) return true;
    const std::int64_t attachments = attachments_of(counts, arn);
    if (attached_only && attachments == 0) return true;
    if (count++ == page.size) {
      next = last;
      return false;
    }
    members.element("member", [&] { write_policy_fields(members, arn, policy, attachments); });
    last = arn;
    return true;
  };
  if (call.form.text("Scope") != "AWS") {
    for_each_policy(call.engine, call.account(), visit);
  }
  call.out.nest("Policies", members);
  write_page_end(call.out, next);
  return {};
}

Outcome<void> list_entities_for_policy(Call& call) {
  std::string wanted;
  RETURN_IF_ERROR(
      look_at_policy(call, [&](engine::Turn&, Policy&, std::string_view arn) -> Outcome<void> {
        wanted = arn;
        return {};
      }));
  call.out.element("PolicyRoles", [&] {
    for_each_role(call.engine, call.account(), [&](Role& role) {
      if (std::ranges::find(role.attached, wanted) == role.attached.end()) return true;
      call.out.element("member", [&] {
        call.out.text("RoleName", role.name);
        call.out.text("RoleId", role.id);
      });
      return true;
    });
  });
  call.out.element("PolicyUsers", [] {});
  call.out.element("PolicyGroups", [] {});
  write_page_end(call.out, "");
  return {};
}

Outcome<void> tag_policy(Call& call) {
  const Tags tags = TRY(call.form.tags());
  return with_policy(call, Access::change, [&](engine::Turn&, Policy& policy) -> Outcome<void> {
    return add_tags(policy.tags, tags);
  });
}

Outcome<void> untag_policy(Call& call) {
  return with_policy(call, Access::change, [&](engine::Turn&, Policy& policy) -> Outcome<void> {
    remove_tags(policy.tags, call.form.list("TagKeys"));
    return {};
  });
}

Outcome<void> list_policy_tags(Call& call) {
  return look_at_policy(call,
                        [&](engine::Turn&, Policy& policy, std::string_view) -> Outcome<void> {
                          write_tags(call.out, policy.tags);
                          write_page_end(call.out, "");
                          return {};
                        });
}

Outcome<void> create_policy_version(Call& call) {
  const std::string text = TRY(policy_text(call.form, "PolicyDocument"));
  return with_policy(
      call, Access::change, [&](engine::Turn& turn, Policy& policy) -> Outcome<void> {
        if (policy.versions.size() == kVersionsMax) {
          return refuse(409,
                        "LimitExceeded",
                        "A managed policy can have up to 5 versions. Before you create a new "
                        "version, you must delete an existing version.");
        }
        policy.updated_ms = turn.stamp().wall.ms();
        const std::int64_t number = policy.versions.back().number + 1;
        policy.versions.push_back(
            {.number = number, .document = text, .created_ms = policy.updated_ms});
        if (call.form.text("SetAsDefault") == "true") policy.default_version = number;
        call.out.element("PolicyVersion",
                         [&] { write_version(call.out, policy, policy.versions.back(), false); });
        return {};
      });
}

Outcome<void> get_policy_version(Call& call) {
  const std::string name = TRY(call.form.required("VersionId"));
  return look_at_policy(
      call, [&](engine::Turn&, Policy& policy, std::string_view) -> Outcome<void> {
        const auto version = find_version(policy, name);
        if (version == policy.versions.end()) return no_such_version(name);
        call.out.element("PolicyVersion", [&] { write_version(call.out, policy, *version, true); });
        return {};
      });
}

Outcome<void> list_policy_versions(Call& call) {
  return look_at_policy(
      call, [&](engine::Turn&, Policy& policy, std::string_view) -> Outcome<void> {
        std::ranges::reverse(policy.versions);  // The newest first.
        call.out.list("Versions", policy.versions, [&](const PolicyVersion& version) {
          write_version(call.out, policy, version, false);
        });
        write_page_end(call.out, "");
        return {};
      });
}

Outcome<void> delete_policy_version(Call& call) {
  const std::string name = TRY(call.form.required("VersionId"));
  return with_policy(call, Access::change, [&](engine::Turn&, Policy& policy) -> Outcome<void> {
    const auto version = find_version(policy, name);
    if (version == policy.versions.end()) return no_such_version(name);
    if (version->number == policy.default_version) {
      return refuse(409, "DeleteConflict", "Cannot delete the default version of a policy.");
    }
    policy.versions.erase(version);
    return {};
  });
}

Outcome<void> set_default_policy_version(Call& call) {
  const std::string name = TRY(call.form.required("VersionId"));
  return with_policy(call, Access::change, [&](engine::Turn&, Policy& policy) -> Outcome<void> {
    const auto version = find_version(policy, name);
    if (version == policy.versions.end()) return no_such_version(name);
    policy.default_version = version->number;
    return {};
  });
}

}  // namespace redrive::iam
