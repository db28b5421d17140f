#include "server/routing.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "auth/credential.h"
#include "cloudwatch/service.h"
#include "iam/service.h"
#include "lambda/service.h"
#include "manage/service.h"
#include "s3/address.h"

namespace redrive::server {
namespace {

struct Scoped {
  std::string_view service;
  Api api;
};
constexpr std::array<Scoped, 6> kScopes = {Scoped{"sqs", Api::sqs},
                                           Scoped{"lambda", Api::lambda},
                                           Scoped{"s3", Api::s3},
                                           Scoped{"monitoring", Api::cloudwatch},
                                           Scoped{"iam", Api::iam},
                                           Scoped{"sts", Api::sts}};

// The API that the signature names; null: it names none, or one that is not served here.
const Api* scoped_to(const http::Request& request) {
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  if (!scope) return nullptr;
  const auto found = std::ranges::find(kScopes, scope->service, &Scoped::service);
  return found == kScopes.end() ? nullptr : &found->api;
}

bool is_metrics_page(const http::Request& request) {
  return request.path == "/metrics" && (request.method == "GET" || request.method == "HEAD");
}

bool is_form(const http::Request& request) {
  return request.method == "POST" && request.query.empty() &&
         request.header("content-type").starts_with("application/x-www-form-urlencoded");
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
  const Api* const scoped = scoped_to(request);
  const bool for_s3 = scoped != nullptr && *scoped == Api::s3;
  // A bucket may have that name; no other API has anything there.
  if (is_metrics_page(request) && !for_s3) return Api::metrics;
  // S3 has no use for a form: SQS tells that its signature is for another service.
  if (scoped == nullptr || (for_s3 && is_form(request))) return api_by_looks(request);
  return *scoped;
}

}  // namespace redrive::server
