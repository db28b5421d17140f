#include "aws/s3/service.h"

#include <fmt/format.h>

#include <utility>

#include "aws/s3/address.h"
#include "aws/s3/call.h"
#include "aws/s3/routes.h"
#include "base/result.h"

namespace redrive::s3 {
namespace {

constexpr std::string_view kBucket = "bucket";
constexpr std::string_view kKey = "key";

// The address of the request; empty before route().
Address address_in(const front::RequestContext& context) {
  Address address;
  for (const auto& [name, value] : context.parameters) {
    (name == kBucket ? address.bucket : address.key) = value;
  }
  return address;
}

http::Answer encode_refusal(const front::RequestContext& context, const Refusal& refusal) {
  const Address address = address_in(context);
  return {.status = refusal.status,
          .content_type = "application/xml",
          .headers = refusal.headers,
          .body = error_document(refusal, address.bucket, address.key, context.id)};
}

front::ApiTraits traits() {
  return {.name = "s3",
          .scope = front::Gate::Api::s3,
          .actions = s3_action_names(),
          .refusal_of = [](const Error& error) { return refusal_of(error); },
          .encode = encode_refusal,
          .busy = Refusal(503, "SlowDown", "Please reduce your request rate."),
          .id_header = "x-amz-request-id"};
}

std::string resource_of(const Address& address) {
  return address.key.empty() ? address.bucket : address.bucket + "/" + address.key;
}

}  // namespace

Service::Service(Parts parts)
    : parts_(std::move(parts)),
      // The threads mostly wait for the disk, and requests that wait together share a sync.
      pool_(http::OffloadPool::Limits{.threads = 8}),
      pipeline_(*this, traits(),
                {.gate = parts_.gate,
                 .observers = parts_.observers,
                 .offload = [this](http::Exchange& exchange, auto, auto serve) {
                   return pool_.take(exchange, {.serve = std::move(serve)});
                 }}) {}

Outcome<void> Service::route(front::RequestContext& context) const {
  const http::Request& request = context.request;
  const auto is_bucket = [&](const std::string& name) {
    return parts_.store.bucket(name).has_value();
  };
  const Address address =
      address_of(request.host, request.path, {.domains = parts_.domains, .is_bucket = is_bucket});
  context.parameters = {{kBucket, address.bucket}, {kKey, address.key}};
  context.action = TRY(find_s3_action(request.method, address, parse_parameters(request.query)));
  return {};
}

Outcome<http::Answer> Service::run(front::RequestContext& context, const front::Respond&) const {
  Call call{.store = parts_.store,
            .uploads = parts_.uploads,
            .request = context.request,
            .caller = context.caller,
            .address = address_in(context),
            .parameters = parse_parameters(context.request.query),
            .now = parts_.gate.wall()};
  const S3Route route = s3_route(context.action);
  // The audit log does not contain objects.
  if (route.right != auth::Right::look) context.audit = {.resource = resource_of(call.address)};
  Address where = call.address;
  if (route.name == "DeleteObjects") where.key = "*";  // Each is then decided on by itself.
  const std::string name = fmt::format("s3:{}", route.name);
  RETURN_IF_ERROR(call.authorize(
      {.name = name, .right = route.right, .amounts_to = {s3_permission(route.name)}}, where));
  return route.run(call);
}

}  // namespace redrive::s3
