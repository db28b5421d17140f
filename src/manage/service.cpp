#include "manage/service.h"

#include "manage/refusals.h"
#include "manage/routes.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kAuditedBodyBytes = 4096;

bool is_audited(const Route& route, const Call& call) {
  if (call.masking.asked_for_secrets()) return true;
  return route.method != "GET" && route.right != auth::Right::consume;
}

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  for (const Route& route : routes()) names.push_back(route.operation);
  return names;
}

// The body as a text; it may be anything.
std::string body_text(const http::Request& request) {
  std::string out;
  wire::append_json_text(out, request.body.substr(0, kAuditedBodyBytes));
  return out;
}

front::ApiTraits traits() {
  return {.name = "management",
          .scope = front::Gate::Api::management,
          .actions = operation_names(),
          .refusal_of = refusal_of,
          .encode = encode_refusal,
          .busy = Error{ErrorCode::service_unavailable, "The server is busy. Try again later."},
          // Answers must not be cached.
          .headers = {{"Cache-Control", "no-store"}},
          .routes_first = true};
}

}  // namespace

Service::Service(Parts parts)
    : parts_(std::move(parts)),
      pipeline_(*this, traits(),
                {.gate = parts_.gate,
                 .observers = parts_.observers,
                 .offload = parts_.offload,
                 .recorded = [&engine = parts_.engine] { return engine.appended(); }}) {}

front::Pace Service::pace(const http::Request& request) const {
  const Match match = find_route(routes(), request.method, request.path);
  return match.route == nullptr ? front::Pace::quick : match.route->pace;
}

front::Outcome<void> Service::route(front::RequestContext& context) const {
  const http::Request& request = context.request;
  Match match = find_route(routes(), request.method, request.path);
  if (match.route == nullptr) {
    return std::unexpected(match.allowed.empty()
                               ? no_such_path(request.path)
                               : method_not_allowed(request.method, std::move(match.allowed)));
  }
  context.action = static_cast<std::size_t>(match.route - routes().data());
  context.parameters = std::move(match.parameters);
  return {};
}

front::Outcome<http::Answer> Service::run(front::RequestContext& context,
                                          const front::Respond&) const {
  const Route& route = routes()[context.action];
  Call call(parts_, context, route);
  if (is_audited(route, call) && pipeline_.audits()) {
    const bool secrets = call.masking.asked_for_secrets();
    context.audit = {
        .resource = std::string(secrets ? context.request.target : context.request.path),
        .request_json = body_text(context.request)};
  }
  RETURN_IF_ERROR(call.authorize());
  Document document = TRY(route.run(call));
  return http::Answer{.content_type = std::string(document.content_type),
                      .body = std::move(document.body)};
}

}  // namespace redrive::manage
