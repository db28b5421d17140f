#include "s3/service.h"

#include <fmt/format.h>

#include <utility>

#include "base/result.h"
#include "s3/address.h"
#include "s3/call.h"
#include "s3/routes.h"

namespace redrive::s3 {
namespace {

void write(std::string& out, const Answer& answer, std::string_view request_id, bool keep_alive) {
  http::append_answer(out, answer, {{"x-amz-request-id", request_id}}, keep_alive);
}

Outcome<Answer> run(const S3Route& route, Call& call) {
  const std::string name = fmt::format("s3:{}", route.name);
  Address where = call.address;
  if (route.name == "DeleteObjects") where.key = "*";  // Each is then decided on by itself.
  CHECK(call.authorize(
      {.name = name, .right = route.right, .amounts_to = {s3_permission(route.name)}}, where));
  return route.run(call);
}

std::string resource_of(const Address& address) {
  return address.key.empty() ? address.bucket : address.bucket + "/" + address.key;
}

}  // namespace

// A request, and what is found out about it on the way.
struct Service::Asked {
  const http::Request& request;
  std::string id = api::new_request_id();
  std::size_t action;
  std::string bucket = {};
  std::string key = {};
  bool unproven = false;

  api::RequestMark mark() const { return {.id = id, .peer = request.peer, .action = action}; }
  Answer refusal(const Refusal& refusal) const {
    return {.status = refusal.status,
            .content_type = "application/xml",
            .headers = refusal.headers,
            .body = error_document(refusal, bucket, key, id)};
  }
};

Service::Service(Parts parts)
    : parts_(std::move(parts)),
      witness_(parts_.observers, "s3", s3_action_names()),
      // They mostly wait for the disk, and those who wait together share its syncs.
      desk_([this](const http::Desk::TaskPtr& task) { serve(task); }, {.threads = 8}) {}

void Service::handle(http::Exchange& exchange) {
  if (desk_.take(exchange)) return;
  const Asked asked{.request = exchange.request(), .action = witness_.unknown()};
  const Refusal refusal{503, "SlowDown", "Please reduce your request rate."};
  witness_.refused(asked.mark(), api::refused_as(refusal, false));
  write(exchange.out(), asked.refusal(refusal), asked.id, asked.request.keep_alive);
  exchange.reply(0);
}

void Service::serve(const http::Desk::TaskPtr& task) const {
  Asked asked{.request = task->request(), .action = witness_.unknown()};
  auto answered = answer(asked);
  if (!answered) {
    witness_.refused(asked.mark(), api::refused_as(answered.error(), asked.unproven));
    answered = asked.refusal(answered.error());
  }
  const auto answer = std::make_shared<const Answer>(*std::move(answered));
  task->answer(
      [answer, id = asked.id, keep_alive = asked.request.keep_alive](std::string& out) {
        write(out, *answer, id, keep_alive);
        return http::Mark{0};
      },
      &witness_.latency(asked.action));
}

Outcome<Answer> Service::answer(Asked& asked) const {
  const http::Request& request = asked.request;
  auto caller = parts_.gate.admit(request, api::Gate::Api::s3);
  if (!caller) {
    asked.unproven = api::is_unproven(caller.error().code);
    return std::unexpected(refusal_of(caller.error()));
  }
  const auto is_bucket = [&](const std::string& name) {
    return parts_.store.bucket(name).has_value();
  };
  Call call{.store = parts_.store,
            .uploads = parts_.uploads,
            .request = request,
            .caller = *std::move(caller),
            .address = address_of(
                request.host, request.path, {.domains = parts_.domains, .is_bucket = is_bucket}),
            .parameters = parse_parameters(request.query),
            .now = parts_.gate.wall()};
  asked.bucket = call.address.bucket;
  asked.key = call.address.key;
  const S3Route route = TRY(find_s3_route(call));
  asked.action = route.action;
  auto answer = run(route, call);
  // Who changed what; contents are nobody's business.
  if (route.right != auth::Right::look) {
    const std::string resource = resource_of(call.address);
    const auto refused = answer ? api::Refused{} : api::refused_as(answer.error(), false);
    witness_.write_down(asked.mark(),
                        call.caller,
                        {.resource = resource, .refused = answer ? nullptr : &refused},
                        call.now);
  }
  return answer;
}

}  // namespace redrive::s3
