#include "app/routing.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "aws/cloudwatch/service.h"
#include "aws/iam/service.h"
#include "aws/lambda/service.h"
#include "aws/s3/address.h"
#include "aws/ssm/service.h"
#include "console/page.h"
#include "manage/service.h"
#include "net/auth/credential.h"

namespace redrive::app {
namespace {

// A request that matches is for that API. Rules are tried in order.
struct Rule {
  bool (*matches)(const http::Request&);
  Api api;
};

bool is_management(const http::Request& request) {
  return request.path.starts_with(manage::kPathPrefix);
}

bool is_iam(const http::Request& request) {
  return iam::service_of(request) == iam::Service::iam;
}

bool is_sts(const http::Request& request) {
  return iam::service_of(request) == iam::Service::sts;
}

bool is_metrics_page(const http::Request& request) {
  return request.path == "/metrics" && (request.method == "GET" || request.method == "HEAD");
}

bool is_form(const http::Request& request) {
  return request.method == "POST" && request.query.empty() &&
         request.header("content-type").starts_with("application/x-www-form-urlencoded");
}

// By target or path. Each API knows its own.
constexpr std::array kNamed = {Rule{lambda::is_lambda_request, Api::lambda},
                               Rule{is_management, Api::management},
                               Rule{console::is_console_request, Api::console},
                               Rule{cloudwatch::names_cloudwatch, Api::cloudwatch},
                               Rule{ssm::names_ssm, Api::ssm}};

// By the service that the signature is scoped to.
struct Scope {
  std::string_view service;
  Api api;
};
constexpr std::array kScopes = {Scope{"sqs", Api::sqs},
                                Scope{"lambda", Api::lambda},
                                Scope{"s3", Api::s3},
                                Scope{"monitoring", Api::cloudwatch},
                                Scope{"iam", Api::iam},
                                Scope{"sts", Api::sts},
                                Scope{"ssm", Api::ssm}};

// By shape, for requests that are not signed.
constexpr std::array kShapes = {Rule{cloudwatch::is_cloudwatch_request, Api::cloudwatch},
                                Rule{s3::is_s3_request, Api::s3},
                                Rule{is_iam, Api::iam},
                                Rule{is_sts, Api::sts}};

std::optional<Api> first_match(std::span<const Rule> rules, const http::Request& request) {
  const auto found =
      std::ranges::find_if(rules, [&](const Rule& rule) { return rule.matches(request); });
  return found == rules.end() ? std::nullopt : std::optional(found->api);
}

// None: the request is not signed, or for a service that is not served here.
std::optional<Api> scoped_to(const http::Request& request) {
  const auto scope = auth::scope_of(request.header("authorization"), request.query);
  if (!scope) return std::nullopt;
  const auto found = std::ranges::find(kScopes, scope->service, &Scope::service);
  return found == kScopes.end() ? std::nullopt : std::optional(found->api);
}

// Nearly every request. Decided without consulting the tables.
bool is_plainly_for_sqs(const http::Request& request) {
  if (request.method != "POST" || is_management(request)) return false;
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
  if (const auto named = first_match(kNamed, request)) return *named;
  const auto scoped = scoped_to(request);
  // A bucket may be called `metrics`; no other API uses that path.
  if (is_metrics_page(request) && scoped != Api::s3) return Api::metrics;
  // S3 takes no forms. SQS refuses this one, because its signature is for another service.
  if (scoped && !(scoped == Api::s3 && is_form(request))) return *scoped;
  return first_match(kShapes, request).value_or(Api::sqs);
}

}  // namespace redrive::app
