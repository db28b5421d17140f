#include "server/routing.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "auth/credential.h"
#include "cloudwatch/service.h"
#include "iam/service.h"
#include "lambda/service.h"
#include "manage/service.h"
#include "s3/address.h"

namespace redrive::server {
namespace {

constexpr std::array<std::pair<std::string_view, Api>, 6> kScopes = {
    {{"sqs", Api::sqs},
     {"lambda", Api::lambda},
     {"s3", Api::s3},
     {"monitoring", Api::cloudwatch},
     {"iam", Api::iam},
     {"sts", Api::sts}}};

// The API that the signature names; nothing: it names none, or one that is not served here.
std::optional<Api> scoped_to(std::string_view service) {
  for (const auto& [name, api] : kScopes) {
    if (name == service) return api;
  }
  return std::nullopt;
}

bool is_metrics_page(const http::Request& request) {
  return request.path == "/metrics" && (request.method == "GET" || request.method == "HEAD");
}

// Without a word from the request, by its looks.
Api api_by_looks(const http::Request& request) {
  if (cloudwatch::is_cloudwatch_request(request)) return Api::cloudwatch;
  if (s3::is_s3_request(request)) return Api::s3;
  const auto named = iam::service_of(request);
  if (!named) return Api::sqs;
  return *named == iam::Service::iam ? Api::iam : Api::sts;
}

// Nearly every request: recognised without asking the other APIs.
bool is_plainly_for_sqs(const http::Request& request) {
  if (request.method != "POST" || request.path.starts_with(manage::kPathPrefix)) return false;
  const std::string_view target = request.header("x-amz-target");
  if (!target.empty()) return target.starts_with("AmazonSQS.");
  if (!request.header("content-type").starts_with("application/x-www-form-urlencoded")) {
    return false;
  }
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  return scope && scope->service == "sqs";
}

}  // namespace

Api api_of(const http::Request& request) {
  if (is_plainly_for_sqs(request)) return Api::sqs;
  if (lambda::is_lambda_request(request)) return Api::lambda;
  if (request.path.starts_with(manage::kPathPrefix)) return Api::management;
  if (cloudwatch::names_cloudwatch(request)) return Api::cloudwatch;
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  const auto scoped = scope ? scoped_to(scope->service) : std::nullopt;
  // A bucket may have that name; no other API has anything there.
  if (is_metrics_page(request) && scoped != Api::s3) return Api::metrics;
  return scoped ? *scoped : api_by_looks(request);
}

}  // namespace redrive::server
