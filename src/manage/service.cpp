#include "manage/service.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "base/calendar.h"

#include "manage/routes.h"

namespace redrive::manage {
namespace {

// What was true a moment ago is not to be shown again from a cache.
constexpr http::Header kNoStore{"Cache-Control", "no-store"};

struct AuditLine {
  std::string_view time;
  std::string_view who;
  std::string_view key;
  std::string_view account;
  std::string_view action;
  std::string_view outcome;
  std::string_view error;
  std::string_view request;  // The body as it came, cut.
};
consteval auto shape_of(AuditLine*) {
  using Out = AuditLine;
  return wire::shape(wire::required("time", &Out::time),
                     wire::required("who", &Out::who),
                     wire::optional("key", &Out::key),
                     wire::required("account", &Out::account),
                     wire::required("action", &Out::action),
                     wire::required("outcome", &Out::outcome),
                     wire::optional("error", &Out::error),
                     wire::optional("request", &Out::request));
}
constexpr std::size_t kAuditedBodyBytes = 4096;

// Who did what through this API, like the lines of the SQS actions.
std::string audit_line(const Call& call, const Error* error) {
  const std::string time = format_utc(call.parts.gate.wall());
  const std::string action = fmt::format("{} {}", call.request.method, call.request.path);
  const std::string who = call.actor();
  AuditLine line{.time = time,
                 .who = who,
                 .key = call.caller.key == nullptr ? std::string_view() : call.caller.key->id,
                 .account = call.caller.account,
                 .action = action,
                 .outcome = error == nullptr ? "done" : failure_of(*error).code,
                 .error = error == nullptr ? std::string_view() : error->message,
                 .request = std::string_view(call.request.body).substr(0, kAuditedBodyBytes)};
  std::string out;
  wire::encode_json(out, line);
  return out;
}

void write(http::Exchange& exchange, const Document& document) {
  const std::size_t mark = http::begin_response(exchange.out(),
                                                {.status = 200,
                                                 .content_type = document.content_type,
                                                 .headers = std::span(&kNoStore, 1),
                                                 .keep_alive = exchange.request().keep_alive});
  exchange.out() += document.body;
  http::end_response(exchange.out(), mark);
}

void write(http::Exchange& exchange, const Failure& failure) {
  const std::array<http::Header, 2> headers = {kNoStore, {"Allow", failure.allowed}};
  const std::size_t mark =
      http::begin_response(exchange.out(),
                           {.status = failure.status,
                            .content_type = "application/json",
                            .headers = std::span(headers).first(failure.allowed.empty() ? 1 : 2),
                            .keep_alive = exchange.request().keep_alive});
  append_failure(exchange.out(), failure);
  http::end_response(exchange.out(), mark);
}

}  // namespace

Result<Document> Service::run(Match match, const http::Request& request) const {
  api::Caller caller = TRY(parts_.gate.admit(request, {}));
  const Route& route = *match.route;
  if (caller.key != nullptr && !auth::has_right(caller.key->role, route.right)) {
    return fail(ErrorCode::access_denied,
                fmt::format("User: {} is not authorized to {} {}: the role {} does not allow it",
                            caller.key->arn(),
                            route.method,
                            request.path,
                            auth::role_name(caller.key->role)));
  }
  Call call(parts_, request, std::move(caller), std::move(match.parameters));
  auto document = route.run(call);
  if (parts_.audit && route.method != "GET" && route.right != auth::Right::consume) {
    parts_.audit(audit_line(call, document ? nullptr : &document.error()));
  }
  return document;
}

void Service::handle(http::Exchange& exchange) {
  const http::Request& request = exchange.request();
  Match match = find_route(routes(), request.method, request.path);
  if (match.route != nullptr) {
    const auto document = run(std::move(match), request);
    document ? write(exchange, *document) : write(exchange, failure_of(document.error()));
  } else if (!match.allowed.empty()) {
    write(exchange, method_not_allowed(request.method, std::move(match.allowed)));
  } else {
    write(exchange, no_such_path(request.path));
  }
  exchange.reply(parts_.engine.appended());
}

}  // namespace redrive::manage
