#include "manage/service.h"

#include <fmt/format.h>

#include <array>
#include <span>

#include "manage/routes.h"

namespace redrive::manage {
namespace {

// What was true a moment ago is not to be shown again from a cache.
constexpr http::Header kNoStore{"Cache-Control", "no-store"};

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
  return route.run(call);
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
