#include "manage/service.h"

#include <algorithm>

#include "manage/routes.h"

namespace redrive::manage {
namespace {

constexpr std::size_t kAuditedBodyBytes = 4096;
// Those whose time grows with what there is to look at or to mask.
constexpr std::string_view kSlowOperations[] = {
    "peekMessages",      "showMessage",     "editMessage", "lookAtHeld",        "readLog",
    "peekBin",           "showLineage",     "listGroups",  "listAllGroups",     "mergeGroup",
    "splitGroup",        "findMessages",    "showGroup",   "startJob",          "listJobs",
    "discardMessages",   "restoreMessages", "listDamaged", "dropDamaged",       "retryDamaged",
    "unarchiveMessages", "showOverview",    "listAlarms",  "showMetricHistory", "reset"};

bool is_audited(const Route& route, const Call& call) {
  if (call.masking.asked_for_secrets()) return true;
  return route.method != "GET" && route.right != auth::Right::consume;
}

std::vector<std::string_view> operation_names() {
  std::vector<std::string_view> names;
  for (const Route& route : routes()) names.push_back(route.operation);
  return names;
}

// As it came, as a text: it may be anything.
std::string body_text(const http::Request& request) {
  std::string out;
  wire::append_json_text(out, request.body.substr(0, kAuditedBodyBytes));
  return out;
}

}  // namespace

// A request, and what is found out about it on the way.
struct Service::Asked {
  const http::Exchange& exchange;
  std::size_t action;
  const http::Request& request = exchange.request();
  std::string id = api::new_request_id();
  bool unproven = false;

  api::RequestMark mark() const { return {.id = id, .peer = request.peer, .action = action}; }
};

Service::Service(Parts parts)
    : parts_(std::move(parts)), witness_(parts_.observers, "management", operation_names()) {}

Result<Document> Service::run(Match match, Asked& asked) const {
  auto caller = parts_.gate.admit(asked.request, api::Gate::Api::management);
  if (!caller) {
    asked.unproven = api::is_unproven(caller.error().code);
    return std::unexpected(caller.error());
  }
  const Route& route = *match.route;
  Call call(parts_, asked.request, *std::move(caller), std::move(match));
  call.is_abandoned = [&asked] { return asked.exchange.is_abandoned(); };
  const auto allowed = call.authorize();
  Result<Document> document = allowed ? route.run(call) : std::unexpected(allowed.error());
  if (!is_audited(route, call) || !witness_.writes_down()) return document;
  const Failure failure = document ? Failure{} : failure_of(document.error());
  const api::Refused refused = api::refused_as(failure);
  witness_.write_down(
      asked.mark(),
      call.caller,
      {.resource = call.masking.asked_for_secrets() ? asked.request.target : asked.request.path,
       .refused = document ? nullptr : &refused,
       .request_json = body_text(asked.request)},
      parts_.gate.wall());
  return document;
}

http::Answer Service::refusal(const Failure& failure, const Asked& asked) const {
  witness_.refused(asked.mark(), api::refused_as(failure, asked.unproven));
  http::Answer answer{.status = failure.status, .content_type = "application/json"};
  if (!failure.allowed.empty()) answer.headers.emplace_back("Allow", failure.allowed);
  append_failure(answer.body, failure);
  return answer;
}

http::Answer Service::answer(Asked& asked) const {
  const http::Request& request = asked.request;
  Match match = find_route(routes(), request.method, request.path);
  if (match.route == nullptr) {
    return refusal(match.allowed.empty()
                       ? no_such_path(request.path)
                       : method_not_allowed(request.method, std::move(match.allowed)),
                   asked);
  }
  asked.action = static_cast<std::size_t>(match.route - routes().data());
  auto document = run(std::move(match), asked);
  if (!document) return refusal(failure_of(document.error()), asked);
  return {.content_type = std::string(document->content_type), .body = std::move(document->body)};
}

void Service::handle(http::Exchange& exchange) {
  Asked asked{.exchange = exchange, .action = witness_.unknown()};
  const http::Answer given = answer(asked);
  finish(exchange, asked, given);
}

bool Service::is_slow(const http::Request& request) {
  const Match match = find_route(routes(), request.method, request.path);
  return match.route != nullptr &&
         std::ranges::find(kSlowOperations, match.route->operation) != std::end(kSlowOperations);
}

void Service::refuse_busy(http::Exchange& exchange) const {
  const Asked asked{.exchange = exchange, .action = witness_.unknown()};
  const Failure failure = failure_of(
      {ErrorCode::service_unavailable, "The server is busy with other requests. Try again."});
  finish(exchange, asked, refusal(failure, asked));
}

void Service::finish(http::Exchange& exchange, const Asked& asked,
                     const http::Answer& answer) const {
  // What was true a moment ago is not to be shown again from a cache.
  http::append_answer(exchange.out(),
                      answer,
                      {{"x-amzn-RequestId", asked.id}, {"Cache-Control", "no-store"}},
                      asked.request.keep_alive);
  exchange.measure(witness_.latency(asked.action));
  exchange.reply(parts_.engine.appended());
}

}  // namespace redrive::manage
