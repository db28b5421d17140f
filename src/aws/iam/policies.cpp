// The account's policies and their versions.

#include <fmt/format.h>

#include <algorithm>

#include "aws/iam/call.h"
#include "base/text.h"
#include "core/catalogue/documents.h"

namespace redrive::iam {
namespace {

constexpr std::size_t kPolicyNameMax = 128;
constexpr std::size_t kVersionsMax = 5;

std::string version_name(std::int64_t number) {
  return fmt::format("v{}", number);
}

// The document of every AWS managed policy: Redrive has only their names.
constexpr std::string_view kEmptyDocument = R"({"Version":"2012-10-17","Statement":[]})";

Policy aws_managed(std::string_view arn) {
  const std::string_view whole = arn.substr(arn.find(":policy/") + 7);
  return {.name = name_of_arn(arn),
          .id = "ANPAAWSMANAGEDPOLICY0",
          .path = whole.substr(0, whole.rfind('/') + 1),
          .description = "An AWS managed policy, of which Redrive knows only the name.",
          .versions = {{.number = 1, .document = kEmptyDocument}}};
}

// Calls `work` with a policy of the account, in one turn, or with an AWS managed one.
template <class Work>
auto read_policy(Call& call, std::string_view arn, Work work) {
  using Answer = std::invoke_result_t<Work, Policy&>;
  if (is_aws_managed(arn)) {
    Policy policy = aws_managed(arn);
    return work(policy);
  }
  return call.engine().turn([&](engine::Turn& turn) -> Answer {
    auto policy = TRY(find_policy(turn.state(), arn));
    return work(*policy);
  });
}

PolicyView view_of(Call& call, std::string_view arn, const Policy& policy,
                   std::int64_t attachments) {
  return {.name = call.keep(std::string(policy.name)),
          .id = call.keep(std::string(policy.id)),
          .arn = call.keep(std::string(arn)),
          .path = call.keep(std::string(policy.path)),
          .default_version = call.keep(version_name(policy.default_version)),
          .attachments = attachments,
          .description = call.keep(std::string(policy.description)),
          .created = call.keep(time_text(policy.created_ms)),
          .updated = call.keep(time_text(policy.updated_ms)),
          .tags = tag_list(call, policy.tags)};
}

VersionView view_of(Call& call, const Policy& policy, const PolicyVersion& version) {
  return {.document = {},
          .id = call.keep(version_name(version.number)),
          .is_default = version.number == policy.default_version,
          .created = call.keep(time_text(version.created_ms))};
}

std::unexpected<Refusal> no_such_version(std::string_view name) {
  return no_such_entity(fmt::format("Policy version {} cannot be found.", name));
}

std::vector<PolicyVersion>::iterator find_version(Policy& policy, std::string_view name) {
  return std::ranges::find_if(policy.versions, [&](const PolicyVersion& version) {
    return version_name(version.number) == name;
  });
}

// Names are unique whatever the path.
bool is_taken(Call& call, std::string_view name) {
  bool taken = false;
  for_each_policy(call.engine(), call.account(), [&](Policy& other) {
    taken = other.name == name;
    return !taken;
  });
  return taken;
}

}  // namespace

Outcome<PolicyOutput> create_policy(Call& call, const CreatePolicyInput& input) {
  RETURN_IF_ERROR(check_name("PolicyName", input.policy_name, kPolicyNameMax));
  const std::string_view path = TRY(entity_path(input.path));
  RETURN_IF_ERROR(check_document("PolicyDocument", input.document));
  const Tags tags = TRY(tags_of(input.tags));
  Policy policy{.name = input.policy_name,
                .path = path,
                .description = input.description,
                .tags = TextMap(tags.begin(), tags.end())};
  const auto lock = call.engine().lock_catalogue();
  if (is_taken(call, policy.name)) {
    return refuse(409,
                  "EntityAlreadyExists",
                  fmt::format("A policy called {} already exists. Duplicate names are not "
                              "allowed.",
                              policy.name));
  }
  return call.engine().turn([&](engine::Turn& turn) -> Outcome<PolicyOutput> {
    policy.id = call.keep(entity_id("ANPA", turn.ids()));
    policy.created_ms = policy.updated_ms = turn.stamp().wall.ms();
    policy.versions = {{.number = 1, .document = input.document, .created_ms = policy.created_ms}};
    const std::string arn = policy_arn(call.account(), policy);
    RETURN_IF_ERROR(put_policy(turn, arn, policy));
    return PolicyOutput{view_of(call, arn, policy, 0)};
  });
}

Outcome<PolicyOutput> get_policy(Call& call, const PolicyInput& input) {
  const Attachments attachments = count_attachments(call.engine(), call.account());
  return read_policy(call, input.policy_arn, [&](Policy& policy) -> Outcome<PolicyOutput> {
    const std::int64_t count = attachments_of(attachments, input.policy_arn);
    return PolicyOutput{view_of(call, input.policy_arn, policy, count)};
  });
}

Outcome<void> delete_policy(Call& call, const DeletePolicyInput& input) {
  const std::string arn(input.policy_arn);
  const auto lock = call.engine().lock_catalogue();  // Nothing is attached meanwhile.
  const Attachments attachments = count_attachments(call.engine(), call.account());
  return call.engine().turn([&](engine::Turn& turn) -> Outcome<void> {
    auto policy = TRY(find_policy(turn.state(), arn));
    if (attachments_of(attachments, arn) > 0) {
      return refuse(409, "DeleteConflict", "Cannot delete a policy attached to entities.");
    }
    if (policy->versions.size() > 1) {
      return refuse(409,
                    "DeleteConflict",
                    "This policy has more than one version. Before you delete a policy, you must "
                    "delete the policy's versions.");
    }
    catalogue::remove(turn, queue::EntryKind::role_policy, arn);
    return {};
  });
}

// The account's policies. There is no list of AWS managed ones.
Outcome<ListPoliciesOutput> list_policies(Call& call, const ListPoliciesInput& input) {
  const auto size = static_cast<std::size_t>(input.max_items.value_or(kPageSize));
  ListPoliciesOutput output;
  const Attachments counts = count_attachments(call.engine(), call.account());
  const auto visit = [&](Policy& policy) {
    const std::string arn = policy_arn(call.account(), policy);
    if (arn <= input.marker || !policy.path.starts_with(input.path_prefix)) return true;
    const std::int64_t attachments = attachments_of(counts, arn);
    if (!call.sees(policy.name) || (input.only_attached && attachments == 0)) return true;
    output.truncated = output.policies.size() == size;
    if (!output.truncated) output.policies.push_back(view_of(call, arn, policy, attachments));
    return !output.truncated;
  };
  if (input.scope != "AWS") for_each_policy(call.engine(), call.account(), visit);
  if (output.truncated) output.marker = output.policies.back().arn;
  return output;
}

Outcome<EntitiesOutput> list_entities_for_policy(Call& call, const PolicyInput& input) {
  RETURN_IF_ERROR(read_policy(call, input.policy_arn, [](Policy&) -> Outcome<void> { return {}; }));
  EntitiesOutput output;
  for_each_role(call.engine(), call.account(), [&](Role& role) {
    if (std::ranges::find(role.attached, input.policy_arn) != role.attached.end()) {
      output.roles.push_back({call.keep(std::string(role.name)), call.keep(std::string(role.id))});
    }
    return true;
  });
  return output;
}

Outcome<void> tag_policy(Call& call, const TagPolicyInput& input) {
  const Tags tags = TRY(tags_of(input.tags));
  return change_policy(call, input.policy_arn, [&](engine::Turn&, Policy& policy) {
    return add_tags(policy.tags, tags);
  });
}

Outcome<void> untag_policy(Call& call, const UntagPolicyInput& input) {
  return change_policy(call, input.policy_arn, [&](engine::Turn&, Policy& policy) -> Outcome<void> {
    remove_tags(policy.tags, input.keys);
    return {};
  });
}

Outcome<TagsOutput> list_policy_tags(Call& call, const PolicyInput& input) {
  return read_policy(call, input.policy_arn, [&](Policy& policy) -> Outcome<TagsOutput> {
    return TagsOutput{tag_list(call, policy.tags)};
  });
}

Outcome<VersionOutput> create_policy_version(Call& call, const CreatePolicyVersionInput& input) {
  RETURN_IF_ERROR(check_document("PolicyDocument", input.document));
  const auto add = [&](engine::Turn& turn, Policy& policy) -> Outcome<VersionOutput> {
    if (policy.versions.size() == kVersionsMax) {
      return refuse(409,
                    "LimitExceeded",
                    "A managed policy can have up to 5 versions. Before you create a new "
                    "version, you must delete an existing version.");
    }
    policy.updated_ms = turn.stamp().wall.ms();
    const std::int64_t number = policy.versions.back().number + 1;
    policy.versions.push_back(
        {.number = number, .document = input.document, .created_ms = policy.updated_ms});
    if (input.set_as_default) policy.default_version = number;
    return VersionOutput{view_of(call, policy, policy.versions.back())};
  };
  return change_policy(call, input.policy_arn, add);
}

Outcome<VersionOutput> get_policy_version(Call& call, const PolicyVersionInput& input) {
  return read_policy(call, input.policy_arn, [&](Policy& policy) -> Outcome<VersionOutput> {
    const auto version = find_version(policy, input.version);
    if (version == policy.versions.end()) return no_such_version(input.version);
    VersionOutput output{view_of(call, policy, *version)};
    output.version.document = call.keep(percent_encode(version->document, false));
    return output;
  });
}

Outcome<ListPolicyVersionsOutput> list_policy_versions(Call& call, const PolicyInput& input) {
  using Output = ListPolicyVersionsOutput;
  return read_policy(call, input.policy_arn, [&](Policy& policy) -> Outcome<Output> {
    Output output;
    std::ranges::reverse(policy.versions);  // The newest first.
    for (const PolicyVersion& version : policy.versions) {
      output.versions.push_back(view_of(call, policy, version));
    }
    return output;
  });
}

Outcome<void> delete_policy_version(Call& call, const ChangePolicyVersionInput& input) {
  return change_policy(call, input.policy_arn, [&](engine::Turn&, Policy& policy) -> Outcome<void> {
    const auto version = find_version(policy, input.version);
    if (version == policy.versions.end()) return no_such_version(input.version);
    if (version->number == policy.default_version) {
      return refuse(409, "DeleteConflict", "Cannot delete the default version of a policy.");
    }
    policy.versions.erase(version);
    return {};
  });
}

Outcome<void> set_default_policy_version(Call& call, const ChangePolicyVersionInput& input) {
  return change_policy(call, input.policy_arn, [&](engine::Turn&, Policy& policy) -> Outcome<void> {
    const auto version = find_version(policy, input.version);
    if (version == policy.versions.end()) return no_such_version(input.version);
    policy.default_version = version->number;
    return {};
  });
}

}  // namespace redrive::iam
