#include "lambda/service.h"

#include <fmt/format.h>

#include <utility>

#include "auth/credential.h"
#include "base/result.h"
#include "lambda/routes.h"

namespace redrive::lambda {
namespace {

void write_answer(std::string& out, const Answer& answer, std::string_view request_id,
                  bool keep_alive) {
  http::append_answer(out, answer, {{"x-amzn-RequestId", request_id}}, keep_alive);
}

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

Answer answer_for(const http::Request& request, const Refusal& refusal) {
  if (!request.path.starts_with(kManagementPrefix)) return answer_of(refusal);
  return json_answer(refusal.status, ManagementRefusal{{refusal.code, refusal.message}});
}

// IAM has another name for the right to invoke.
std::string operation_name(const Route& route) {
  if (route.operation == "Invoke") return std::string(api::kInvokeFunction.name);
  return fmt::format("lambda:{}", route.operation);
}

}  // namespace

bool is_lambda_request(const http::Request& request) {
  if (!is_lambda_path(request.path)) return false;
  // A bucket may have such a name.
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  return !scope || scope->service != "s3";
}

// A request, until its answer is given.
struct Service::Asked {
  http::Desk::TaskPtr task;
  std::string id = api::new_request_id();
  std::size_t action;
  bool unproven = false;

  api::RequestMark mark() const {
    return {.id = id, .peer = task->request().peer, .action = action};
  }
};

Service::Service(Parts parts)
    : parts_(std::move(parts)),
      witness_(std::make_shared<api::Witness>(parts_.observers, "lambda", operation_names())),
      desk_([this](const http::Desk::TaskPtr& task) { serve(task); }) {}

void Service::handle(http::Exchange& exchange) {
  if (desk_.take(exchange)) return;
  const http::Request& request = exchange.request();
  const std::string id = api::new_request_id();
  const Refusal refusal{503, "ServiceException", "The server is busy. Please try again."};
  witness_->refused({.id = id, .peer = request.peer, .action = witness_->unknown()},
                    api::refused_as(refusal));
  write_answer(exchange.out(), answer_for(request, refusal), id, request.keep_alive);
  exchange.reply(0);
}

std::function<void(Outcome<Answer>)> Service::responder(std::shared_ptr<const Asked> asked) const {
  return [witness = witness_, &engine = parts_.engine, asked](Outcome<Answer> given) {
    if (!given) {
      witness->refused(asked->mark(), api::refused_as(given.error(), asked->unproven));
      given = answer_for(asked->task->request(), given.error());
    }
    const auto answer = std::make_shared<const Answer>(*std::move(given));
    asked->task->answer(
        [asked, answer, &engine](std::string& out) -> http::Mark {
          write_answer(out, *answer, asked->id, asked->task->request().keep_alive);
          return engine.appended();
        },
        &witness->latency(asked->action));
  };
}

void Service::serve(const http::Desk::TaskPtr& task) const {
  const auto asked = std::make_shared<Asked>(Asked{.task = task, .action = witness_->unknown()});
  const http::Request& request = task->request();
  const auto respond = responder(asked);
  Match match = find_route(request.method, request.path);
  if (match.route == nullptr) {
    return respond(refuse(404,
                          "UnknownOperationException",
                          fmt::format("There is no {} {} here.", request.method, request.path)));
  }
  asked->action = match.index;
  const bool own = request.path.starts_with(kManagementPrefix);
  auto caller =
      parts_.gate.admit(request, own ? api::Gate::Api::management : api::Gate::Api::lambda);
  if (!caller) {
    asked->unproven = api::is_unproven(caller.error().code);
    return respond(std::unexpected(refusal_of(caller.error())));
  }
  Call call{.parts = parts_,
            .request = request,
            .caller = *std::move(caller),
            .parameters = std::move(match.parameters),
            .request_id = asked->id,
            .operation_name = operation_name(*match.route),
            .right = match.route->right,
            .respond = respond};
  auto answer = run(*match.route, call, *asked);
  if (!answer || !call.later) respond(std::move(answer));
}

Outcome<Answer> Service::run(const Route& route, Call& call, const Asked& asked) const {
  const auto allowed = told<void>(api::authorize_role(call.caller, call.operation()));
  Outcome<Answer> answer = allowed ? route.run(call) : std::unexpected(allowed.error());
  const api::Masking masking(call.caller, call.request.query, nullptr);
  const bool unmasked =
      masking.asked_for_secrets() && call.request.path.starts_with(kManagementPrefix);
  if (!route.audited() && !unmasked) return answer;
  // The request itself stays out of it: it has code and environments, and in those secrets.
  const auto refused = answer ? api::Refused{} : api::refused_as(answer.error());
  witness_->write_down(asked.mark(),
                       call.caller,
                       {.resource = unmasked ? call.request.target : call.request.path,
                        .refused = answer ? nullptr : &refused},
                       parts_.gate.wall());
  return answer;
}

}  // namespace redrive::lambda
