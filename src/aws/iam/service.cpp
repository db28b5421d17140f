#include "aws/iam/service.h"

#include <fmt/format.h>

#include "aws/sqs/model/errors.h"
#include "base/text.h"
#include "front/authorize.h"
#include "net/auth/credential.h"

namespace redrive::iam {
namespace {

using auth::Right;

Result<void> authorize_entity(const Call& call, std::string_view kind, std::string_view name) {
  const std::string path = fmt::format("{}/{}", kind, name);
  return front::decide(call.caller(),
                       call.operation(),
                       {.kind = front::ResourceKind::role,
                        .account = call.account(),
                        .name = path,
                        .covered_as = name},
                       {});
}

// A policy as its ARN names it: one of another account is refused, those of AWS are open to all
// accounts.
Result<void> authorize_policy(const Call& call, std::string_view arn) {
  const auto parts = split(arn, ':');
  if (is_aws_managed(arn) || parts.size() < 6) return {};
  return front::decide(call.caller(),
                       call.operation(),
                       {.kind = front::ResourceKind::role,
                        .account = parts[4],
                        .name = parts[5],
                        .covered_as = name_of_arn(arn)},
                       {});
}

// What a request names: a role, an existing policy, or a policy to be created.
template <class Input>
Result<void> authorize_named(const Call& call, const Input& input) {
  constexpr bool role = requires {
    input.role_name;
  };
  constexpr bool arn = requires {
    input.policy_arn;
  };
  constexpr bool policy = !role && requires {
    input.policy_name;
  };
  if constexpr (role) RETURN_IF_ERROR(authorize_entity(call, "role", input.role_name));
  if constexpr (arn) RETURN_IF_ERROR(authorize_policy(call, input.policy_arn));
  if constexpr (policy) RETURN_IF_ERROR(authorize_entity(call, "policy", input.policy_name));
  if constexpr (role || arn || policy) return {};
  // Lists are about the account: a key with statements needs one that allows it.
  return front::decide(
      call.caller(), call.operation(), front::account_resource(call.account()), {});
}

// The functions of the table: authorise what the input names, then run.
template <auto operation>
struct Row;
template <class Input, class Output, Outcome<Output> (*operation)(Call&, const Input&)>
struct Row<operation> {
  using In = Input;

  static Outcome<Output> read(Call& call, const Input& input) {
    RETURN_IF_ERROR(authorize_named(call, input));
    return operation(call, input);
  }
  static Outcome<Output> change(Call& call, const Input& input) {
    RETURN_IF_ERROR(authorize_named(call, input));
    Outcome<Output> output = operation(call, input);
    if (output && call.parts.changed) call.parts.changed();
    return output;
  }
};

template <auto operation>
consteval auto reading(std::string_view name) {
  return front::action<&Row<operation>::read>(name, Right::look);
}
template <auto operation>
consteval auto changing(std::string_view name) {
  static_assert(ChangeInput<typename Row<operation>::In>, "the audit log records every change");
  return front::action<&Row<operation>::change>(name, Right::administer);
}

constexpr front::Action<Call> kIamActions[] = {
    changing<create_role>("CreateRole"),
    reading<get_role>("GetRole"),
    reading<list_roles>("ListRoles"),
    changing<update_role>("UpdateRole"),
    changing<update_assume_role_policy>("UpdateAssumeRolePolicy"),
    changing<delete_role>("DeleteRole"),
    changing<tag_role>("TagRole"),
    changing<untag_role>("UntagRole"),
    reading<list_role_tags>("ListRoleTags"),
    reading<list_instance_profiles_for_role>("ListInstanceProfilesForRole"),
    changing<put_role_policy>("PutRolePolicy"),
    reading<get_role_policy>("GetRolePolicy"),
    changing<delete_role_policy>("DeleteRolePolicy"),
    reading<list_role_policies>("ListRolePolicies"),
    changing<attach_role_policy>("AttachRolePolicy"),
    changing<detach_role_policy>("DetachRolePolicy"),
    reading<list_attached_role_policies>("ListAttachedRolePolicies"),
    changing<create_policy>("CreatePolicy"),
    reading<get_policy>("GetPolicy"),
    changing<delete_policy>("DeletePolicy"),
    reading<list_policies>("ListPolicies"),
    reading<list_entities_for_policy>("ListEntitiesForPolicy"),
    changing<tag_policy>("TagPolicy"),
    changing<untag_policy>("UntagPolicy"),
    reading<list_policy_tags>("ListPolicyTags"),
    changing<create_policy_version>("CreatePolicyVersion"),
    reading<get_policy_version>("GetPolicyVersion"),
    reading<list_policy_versions>("ListPolicyVersions"),
    changing<delete_policy_version>("DeletePolicyVersion"),
    changing<set_default_policy_version>("SetDefaultPolicyVersion"),
};

constexpr front::Action<Call> kStsActions[] = {
    front::action<get_caller_identity>("GetCallerIdentity", std::nullopt),
    front::action<refuse_to_assume>("AssumeRole", std::nullopt),
    front::action<refuse_to_assume>("AssumeRoleWithWebIdentity", std::nullopt),
    front::action<refuse_to_assume>("GetSessionToken", std::nullopt),
};

Refusal refusal_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_parameter_value:
    case ErrorCode::missing_parameter:
      return {400, "ValidationError", error.message};
    case ErrorCode::malformed_request:
      return {400, "MalformedQueryString", error.message};
    case ErrorCode::unknown_operation:
      return {400, "InvalidAction", error.message};
    default:
      const sqs::ErrorRow& row = sqs::error_row(error.code);
      return {row.query_status, row.query_code, error.message};
  }
}

const front::TableTraits kIamTraits{.name = "iam",
                                    .scope = front::Gate::Api::iam,
                                    .refusal_of = refusal_of,
                                    .xml_namespace = "https://iam.amazonaws.com/doc/2010-05-08/",
                                    .title = "IAM"};
const front::TableTraits kStsTraits{.name = "sts",
                                    .scope = front::Gate::Api::sts,
                                    .refusal_of = refusal_of,
                                    .xml_namespace = "https://sts.amazonaws.com/doc/2011-06-15/",
                                    .title = "STS"};

std::optional<Service> service_named(std::string_view name) {
  if (name == "iam") return Service::iam;
  if (name == "sts") return Service::sts;
  return std::nullopt;
}

bool has_field(std::string_view form, std::string_view field) {
  for (std::size_t at = form.find(field); at != form.npos; at = form.find(field, at + 1)) {
    const std::size_t end = at + field.size();
    const bool begins = at == 0 || form[at - 1] == '&';
    if (begins && (end == form.size() || form[end] == '&')) return true;
  }
  return false;
}

front::Pipeline::Parts pipeline_parts(const Parts& parts, const front::Gate& gate,
                                      const front::Observers& observers,
                                      const front::Offload& offload) {
  return {.gate = gate,
          .observers = observers,
          .offload = offload,
          .recorded = [&engine = parts.engine] { return engine.appended(); }};
}

}  // namespace

std::vector<ActionInfo> actions() {
  std::vector<ActionInfo> infos;
  for (const auto& action : kIamActions) {
    infos.push_back({action.name, Service::iam, action.right});
  }
  for (const auto& action : kStsActions) {
    infos.push_back({action.name, Service::sts, action.right});
  }
  return infos;
}

std::optional<Service> service_of(const http::Request& request) {
  if (!request.header("content-type").starts_with("application/x-www-form-urlencoded")) {
    return std::nullopt;
  }
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  if (scope && !scope->service.empty()) return service_named(scope->service);
  if (has_field(request.body, "Version=2010-05-08")) return Service::iam;
  if (has_field(request.body, "Version=2011-06-15")) return Service::sts;
  return std::nullopt;
}

Endpoint::Endpoint(const Parts& parts, const front::Gate& gate, const front::Observers& observers,
                   const front::Offload& offload)
    : parts_(parts),
      iam_(
          kIamTraits, kIamActions,
          [this](front::ActionCall call) {
            return Call{std::move(call), parts_};
          },
          pipeline_parts(parts_, gate, observers, offload)),
      sts_(
          kStsTraits, kStsActions,
          [this](front::ActionCall call) {
            return Call{std::move(call), parts_};
          },
          pipeline_parts(parts_, gate, observers, offload)) {}

}  // namespace redrive::iam
