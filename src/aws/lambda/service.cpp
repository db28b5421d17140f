#include "aws/lambda/service.h"

#include <fmt/format.h>

#include <utility>

#include "aws/lambda/routes.h"
#include "base/result.h"
#include "net/auth/credential.h"

namespace redrive::lambda {
namespace {

// {"error": {"code": ..., "message": ...}}, as the rest of the management API has it.
struct ManagementError {
  std::string_view code;
  std::string_view message;
};
consteval auto shape_of(ManagementError*) {
  return wire::shape(wire::required("code", &ManagementError::code),
                     wire::required("message", &ManagementError::message));
}
struct ManagementRefusal {
  ManagementError error;
};
consteval auto shape_of(ManagementRefusal*) {
  return wire::shape(wire::required("error", &ManagementRefusal::error));
}

bool is_management(const http::Request& request) {
  return request.path.starts_with(kManagementPrefix);
}

Answer encode_refusal(const front::RequestContext& context, const Refusal& refusal) {
  if (!is_management(context.request)) return answer_of(refusal);
  return json_answer(refusal.status, ManagementRefusal{{refusal.code, refusal.message}});
}

front::ApiTraits traits() {
  return {.name = "lambda",
          .scope = front::Gate::Api::lambda,
          .actions = operation_names(),
          .refusal_of = refusal_of,
          .encode = encode_refusal,
          .routes_first = true};
}

// IAM has another name for the right to invoke.
std::string operation_name(const Route& route) {
  if (route.operation == "Invoke") return std::string(front::kInvokeFunction.name);
  return fmt::format("lambda:{}", route.operation);
}

}  // namespace

bool is_lambda_request(const http::Request& request) {
  if (!is_lambda_path(request.path)) return false;
  // A bucket may have such a name.
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  return !scope || scope->service != "s3";
}

Service::Service(Parts parts)
    : parts_(std::move(parts)),
      pool_(http::OffloadPool::Limits{}),
      pipeline_(*this, traits(),
                {.gate = parts_.gate,
                 .observers = parts_.observers,
                 .offload =
                     [this](http::Exchange& exchange, auto, auto serve) {
                       return pool_.take(exchange, {.serve = std::move(serve)});
                     },
                 .recorded = [&engine = parts_.engine] { return engine.appended(); }}) {}

Outcome<void> Service::route(front::RequestContext& context) const {
  const http::Request& request = context.request;
  Match match = find_route(request.method, request.path);
  if (match.route == nullptr) {
    return refuse(404,
                  "UnknownOperationException",
                  fmt::format("{} {} is not supported.", request.method, request.path));
  }
  context.action = match.index;
  context.parameters = std::move(match.parameters);
  if (is_management(request)) context.scope = &front::Gate::Api::management;
  return {};
}

Outcome<http::Answer> Service::run(front::RequestContext& context,
                                   const front::Respond& respond) const {
  const Route& route = routes()[context.action];
  Call call{.parts = parts_,
            .context = context,
            .operation_name = operation_name(route),
            .right = route.right,
            .respond = respond};
  const front::Masking masking(call.caller, call.request.query, nullptr);
  const bool unmasked = masking.asked_for_secrets() && is_management(call.request);
  // The audit log does not contain the request: code and environments can contain secrets.
  if (route.audited() || unmasked) {
    context.audit = {.resource = std::string(unmasked ? call.request.target : call.request.path)};
  }
  RETURN_IF_ERROR(front::authorize_role(call.caller, call.operation()));
  return route.run(call);
}

}  // namespace redrive::lambda
