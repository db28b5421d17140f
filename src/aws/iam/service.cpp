#include "aws/iam/service.h"

#include <fmt/format.h>

#include <array>

#include "aws/iam/call.h"
#include "base/result.h"
#include "base/text.h"
#include "front/authorize.h"
#include "net/auth/access_key.h"
#include "net/auth/credential.h"
#include "net/http/answer.h"

namespace redrive::iam {
namespace {

using auth::Right;

struct Action {
  std::string_view name;
  Service service;
  std::optional<Right> right;  // Nothing: everybody who is let in.
  Outcome<void> (*run)(Call&);

  bool changes() const { return right == Right::administer; }
};

constexpr Action reading(std::string_view name, Outcome<void> (*run)(Call&)) {
  return {name, Service::iam, Right::look, run};
}
constexpr Action changing(std::string_view name, Outcome<void> (*run)(Call&)) {
  return {name, Service::iam, Right::administer, run};
}

constexpr std::array kActions = {
    changing("CreateRole", create_role),
    reading("GetRole", get_role),
    reading("ListRoles", list_roles),
    changing("UpdateRole", update_role),
    changing("UpdateAssumeRolePolicy", update_assume_role_policy),
    changing("DeleteRole", delete_role),
    changing("TagRole", tag_role),
    changing("UntagRole", untag_role),
    reading("ListRoleTags", list_role_tags),
    reading("ListInstanceProfilesForRole", list_instance_profiles_for_role),
    changing("PutRolePolicy", put_role_policy),
    reading("GetRolePolicy", get_role_policy),
    changing("DeleteRolePolicy", delete_role_policy),
    reading("ListRolePolicies", list_role_policies),
    changing("AttachRolePolicy", attach_role_policy),
    changing("DetachRolePolicy", detach_role_policy),
    reading("ListAttachedRolePolicies", list_attached_role_policies),
    changing("CreatePolicy", create_policy),
    reading("GetPolicy", get_policy),
    changing("DeletePolicy", delete_policy),
    reading("ListPolicies", list_policies),
    reading("ListEntitiesForPolicy", list_entities_for_policy),
    changing("TagPolicy", tag_policy),
    changing("UntagPolicy", untag_policy),
    reading("ListPolicyTags", list_policy_tags),
    changing("CreatePolicyVersion", create_policy_version),
    reading("GetPolicyVersion", get_policy_version),
    reading("ListPolicyVersions", list_policy_versions),
    changing("DeletePolicyVersion", delete_policy_version),
    changing("SetDefaultPolicyVersion", set_default_policy_version),
    Action{"GetCallerIdentity", Service::sts, std::nullopt, get_caller_identity},
    Action{"AssumeRole", Service::sts, std::nullopt, refuse_to_assume},
    Action{"AssumeRoleWithWebIdentity", Service::sts, std::nullopt, refuse_to_assume},
    Action{"GetSessionToken", Service::sts, std::nullopt, refuse_to_assume},
};

std::string_view name_of(Service service) {
  return service == Service::iam ? "iam" : "sts";
}

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

Outcome<const Action*> find_action(Service service, std::string_view name) {
  for (const Action& action : kActions) {
    if (action.service == service && action.name == name) return &action;
  }
  if (name.empty()) return refuse(400, "MissingAction", "The request names no action.");
  return refuse(400,
                "InvalidAction",
                fmt::format("Could not find operation {}: Redrive implements a subset of {}.",
                            name,
                            service == Service::iam ? "IAM" : "STS"));
}

// A policy as its ARN names it: one of another account is refused, one of AWS is open to all
// accounts.
Result<void> authorize_policy(const front::Caller& caller, const front::Operation& operation,
                              std::string_view arn) {
  const auto parts = split(arn, ':');
  if (is_aws_managed(arn) || parts.size() < 6) return {};
  return front::decide(caller,
                       operation,
                       {.kind = front::ResourceKind::role,
                        .account = parts[4],
                        .name = parts[5],
                        .covered_as = name_of_arn(arn)},
                       {});
}

// What a request names: a role, a policy of its own, or a policy that is made.
Result<void> authorize_named(const front::Caller& caller, const front::Operation& operation,
                             const Form& form) {
  const auto of_account = [&](std::string_view kind, std::string_view name) {
    const std::string path = fmt::format("{}/{}", kind, name);
    return front::decide(caller,
                         operation,
                         {.kind = front::ResourceKind::role,
                          .account = caller.account,
                          .name = path,
                          .covered_as = name},
                         {});
  };
  const auto role = form.find("RoleName");
  if (role) RETURN_IF_ERROR(of_account("role", *role));
  if (const auto arn = form.find("PolicyArn")) return authorize_policy(caller, operation, *arn);
  const auto policy = form.find("PolicyName");
  if (policy && !role) return of_account("policy", *policy);
  if (role) return {};
  // Lists are about the account: a key with statements needs one that says so.
  return front::decide(caller, operation, front::account_resource(caller.account), {});
}

Outcome<void> check_right(const front::Caller& caller, const Action& action, const Form& form) {
  if (!action.right) return {};
  const std::string name = fmt::format("{}:{}", name_of(action.service), action.name);
  const front::Operation operation{.name = name, .right = *action.right};
  auto allowed = front::authorize_role(caller, operation);
  if (allowed) allowed = authorize_named(caller, operation, form);
  if (!allowed) return std::unexpected(refusal_of(allowed.error()));
  return {};
}

// What a change is made to.
std::string_view resource_of(const Form& form) {
  for (const std::string_view name : {"PolicyArn", "RoleName", "PolicyName"}) {
    if (const auto found = form.find(name)) return *found;
  }
  return {};
}

std::vector<std::string_view> action_names(Service service) {
  std::vector<std::string_view> names;
  for (const Action& action : kActions) {
    if (action.service == service) names.push_back(action.name);
  }
  return names;
}

// Its place among those of its service.
std::size_t index_of(const Action& action) {
  std::size_t index = 0;
  for (const Action* before = kActions.data(); before != &action; ++before) {
    if (before->service == action.service) ++index;
  }
  return index;
}

http::Answer encode_refusal(Service service, const front::RequestContext& context,
                            const Refusal& refusal) {
  return {.status = refusal.status,
          .content_type = "text/xml",
          .body = error_document(service, refusal, context.id)};
}

front::ApiTraits traits_of(Service service) {
  const bool iam = service == Service::iam;
  return {.name = name_of(service),
          .scope = iam ? front::Gate::Api::iam : front::Gate::Api::sts,
          .actions = action_names(service),
          .refusal_of = refusal_of,
          .encode = [service](const front::RequestContext& context, const Refusal& refusal) {
            return encode_refusal(service, context, refusal);
          }};
}

}  // namespace

std::vector<ActionInfo> actions() {
  std::vector<ActionInfo> infos;
  for (const Action& action : kActions)
    infos.push_back({action.name, action.service, action.right});
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

// The actions of one of the two services.
class Endpoint::Table final : public front::Api {
 public:
  Table(Parts parts, Service service)
      : parts_(std::move(parts)),
        service_(service),
        pipeline_(*this, traits_of(service),
                  {.gate = parts_.gate,
                   .observers = parts_.observers,
                   .offload = parts_.offload,
                   .recorded = [&engine = parts_.engine] { return engine.appended(); }}) {}

  void handle(http::Exchange& exchange) const { pipeline_.handle(exchange); }

 private:
  front::Pace pace(const http::Request&) const override { return front::Pace::quick; }
  Outcome<void> route(front::RequestContext&) const override { return {}; }
  Outcome<http::Answer> run(front::RequestContext& context,
                            const front::Respond& respond) const override;

  const Parts parts_;
  const Service service_;
  const front::Pipeline pipeline_;
};

Outcome<http::Answer> Endpoint::Table::run(front::RequestContext& context,
                                           const front::Respond&) const {
  const Form form = TRY(Form::parse(context.request.query, context.request.body));
  const Action& action = *TRY(find_action(service_, form.text("Action")));
  context.action = index_of(action);
  if (action.changes()) {
    context.audit = {.resource = std::string(resource_of(form)), .request_json = form.json()};
  }
  RETURN_IF_ERROR(check_right(context.caller, action, form));
  Call call{parts_.engine, form, context.caller, {}};
  RETURN_IF_ERROR(action.run(call));
  if (action.changes() && parts_.changed) parts_.changed();
  return http::Answer{.content_type = "text/xml",
                      .body = success_document(service_, action.name, call.out, context.id)};
}

Endpoint::Endpoint(Parts parts)
    : iam_(std::make_unique<Table>(parts, Service::iam)),
      sts_(std::make_unique<Table>(std::move(parts), Service::sts)) {}

Endpoint::~Endpoint() = default;

void Endpoint::handle(http::Exchange& exchange, Service service) const {
  (service == Service::iam ? iam_ : sts_)->handle(exchange);
}

}  // namespace redrive::iam
