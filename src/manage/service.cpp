#include "manage/service.h"

#include "manage/changes.h"
#include "manage/refusals.h"
#include "manage/routes.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kAuditedBodyBytes = 4096;

bool is_audited(const Route& route, const Call& call) {
  if (call.masking.asked_for_secrets()) return true;
  return route.method != "GET" && route.right != auth::Right::consume &&
         route.right != auth::Right::look;
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
                 .recorded = [&engine = parts_.engine] { return engine.appended(); }}),
      feed_(std::make_unique<ChangeFeed>([this](const front::RequestContext& context) {
        Call call(parts_, context, routes()[context.action]);
        return change_rows(call);
      })) {}

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
  if (match.route->open && request.method == "POST" &&
      parts_.gate.is_sign_in_blocked(request.peer)) {
    return std::unexpected(too_many_sign_ins());
  }
  context.open = match.route->open;
  context.action = static_cast<std::size_t>(match.route - routes().data());
  context.parameters = std::move(match.parameters);
  return {};
}

front::Outcome<http::Answer> Service::read_changes(front::RequestContext& context, Call& call,
                                                   const front::Respond& respond) const {
  const auto answer_of = [&engine = parts_.engine](const std::string& members) {
    return http::Answer{.content_type = "application/json",
                        .body = changes_document(engine.wall(), members)};
  };
  const auto later = [respond, answer_of](Result<std::string> members) {
    members ? respond(answer_of(*members)) : respond(std::unexpected(members.error()));
  };
  context.later = true;  // Before it is handed over: the answer can come at once.
  auto members = feed_->ask(context, TRY(changes_question(call)), later);
  if (!members) return std::unexpected(members.error());
  context.later = !*members;
  return *members ? answer_of(**members) : http::Answer();
}

front::Outcome<http::Answer> Service::run(front::RequestContext& context,
                                          const front::Respond& respond) const {
  const Route& route = routes()[context.action];
  Call call(parts_, context, route);
  if (is_audited(route, call) && pipeline_.audits()) {
    const bool secrets = call.masking.asked_for_secrets();
    context.audit = {
        .resource = std::string(secrets ? context.request.target : context.request.path),
        // The body of a sign-in is a secret.
        .request_json = route.open ? std::string() : body_text(context.request)};
  }
  if (!route.open) RETURN_IF_ERROR(call.authorize());
  if (route.run == nullptr) return read_changes(context, call, respond);
  Document document = TRY(route.run(call));
  return http::Answer{.content_type = std::string(document.content_type),
                      .headers = std::move(document.headers),
                      .body = std::move(document.body)};
}

}  // namespace redrive::manage
