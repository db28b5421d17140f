#include "iam/service.h"

#include <fmt/format.h>

#include <array>

#include "auth/access_key.h"
#include "auth/credential.h"
#include "base/calendar.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/text.h"
#include "iam/call.h"
#include "wire/encode.h"

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
                fmt::format("Could not find operation {}: Redrive has a subset of {}.",
                            name,
                            service == Service::iam ? "IAM" : "STS"));
}

Outcome<void> check_right(const api::Caller& caller, const Action& action) {
  if (caller.key == nullptr || !action.right || auth::has_right(caller.key->role, *action.right)) {
    return {};
  }
  return refuse(403,
                "AccessDenied",
                fmt::format("User: {} is not authorized to perform: {}:{}: the role {} does not "
                            "allow it",
                            caller.key->arn(),
                            name_of(action.service),
                            action.name,
                            auth::role_name(caller.key->role)));
}

struct AuditLine {
  std::string_view time;
  std::string_view who;
  std::string_view key;
  std::string_view account;
  std::string_view from;
  std::string_view action;
  std::string_view outcome;
  std::string_view error;
  std::string_view request_id;
};
consteval auto shape_of(AuditLine*) {
  using Out = AuditLine;
  return wire::shape(wire::required("time", &Out::time),
                     wire::required("who", &Out::who),
                     wire::optional("key", &Out::key),
                     wire::required("account", &Out::account),
                     wire::required("from", &Out::from),
                     wire::required("action", &Out::action),
                     wire::required("outcome", &Out::outcome),
                     wire::optional("error", &Out::error),
                     wire::required("requestId", &Out::request_id));
}

std::string audit_line(const Call& call, const http::Request& request, const Action& action,
                       const Refusal* refusal, std::string_view request_id, Timestamp wall) {
  const std::string time = format_utc(wall);
  const std::string name = fmt::format("{}:{}", name_of(action.service), action.name);
  std::string line;
  wire::encode_json(
      line,
      AuditLine{.time = time,
                .who = call.caller.sender_id,
                .key = call.caller.key == nullptr ? std::string_view() : call.caller.key->id,
                .account = call.caller.account,
                .from = request.peer,
                .action = name,
                .outcome = refusal == nullptr ? "done" : refusal->code,
                .error = refusal == nullptr ? std::string_view() : refusal->message,
                .request_id = request_id});
  line.pop_back();
  return line.append(R"(,"request":)").append(call.form.json()).append("}");
}

}  // namespace

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

Outcome<std::string> Endpoint::run(const http::Request& request, Service service,
                                   const std::string& request_id) const {
  const auto caller = parts_.gate.admit(request, name_of(service));
  if (!caller) return std::unexpected(refusal_of(caller.error()));
  const Form form = TRY(Form::parse(request.query, request.body));
  const Action& action = *TRY(find_action(service, form.text("Action")));
  Call call{parts_.engine, form, *caller, {}};
  auto done = check_right(*caller, action);
  if (done) done = action.run(call);
  if (parts_.audit && action.changes()) {
    parts_.audit(audit_line(
        call, request, action, done ? nullptr : &done.error(), request_id, parts_.gate.wall()));
  }
  CHECK(done);
  return success_document(service, action.name, call.out, request_id);
}

void Endpoint::handle(http::Exchange& exchange, Service service) {
  thread_local RandomIds ids;
  const std::string request_id = ids.uuid().text();
  const auto document = run(exchange.request(), service, request_id);
  const std::array<http::Header, 1> headers = {http::Header{"x-amzn-RequestId", request_id}};
  const std::size_t mark = http::begin_response(exchange.out(),
                                                {.status = document ? 200 : document.error().status,
                                                 .content_type = "text/xml",
                                                 .headers = headers,
                                                 .keep_alive = exchange.request().keep_alive});
  exchange.out() += document ? *document : error_document(service, document.error(), request_id);
  http::end_response(exchange.out(), mark);
  exchange.reply(parts_.engine.appended());
}

}  // namespace redrive::iam
