#include "app/routing.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace redrive::app {
namespace {

struct Sent {
  std::string_view method = "POST";
  std::string_view path = "/";
  std::string_view scope = {};  // The service that the signature is scoped to; empty: unsigned.
  std::string_view target = {};
  std::string_view type = {};
  std::string_view query = {};
  std::string_view body = {};
};

Api route(const Sent& sent) {
  http::Request request;
  request.method = sent.method;
  request.path = sent.path;
  request.query = sent.query;
  request.body = sent.body;
  const std::string authorization = "AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/" +
                                    std::string(sent.scope) +
                                    "/aws4_request, SignedHeaders=host, Signature=0";
  if (!sent.scope.empty()) request.headers.push_back({"authorization", authorization});
  if (!sent.target.empty()) request.headers.push_back({"x-amz-target", sent.target});
  if (!sent.type.empty()) request.headers.push_back({"content-type", sent.type});
  return api_of(request);
}

constexpr std::string_view kForm = "application/x-www-form-urlencoded";
constexpr std::string_view kJson = "application/x-amz-json-1.0";

TEST(Routing, ATargetThatAnApiKnowsDecides) {
  EXPECT_EQ(route({.target = "AmazonSQS.SendMessage"}), Api::sqs);
  EXPECT_EQ(route({.scope = "s3", .target = "AmazonSQS.SendMessage"}), Api::sqs);
  EXPECT_EQ(route({.scope = "sqs", .target = "GraniteServiceVersion20100801.ListMetrics"}),
            Api::cloudwatch);
  EXPECT_EQ(route({.scope = "sqs", .target = "AmazonSSM.GetParameter"}), Api::ssm);
}

TEST(Routing, TheScopeDecidesWhereTheTargetIsUnknown) {
  constexpr std::string_view kUnknown = "Unheard_20990101.Of";
  EXPECT_EQ(route({.scope = "sqs", .target = kUnknown, .type = kJson}), Api::sqs);
  EXPECT_EQ(route({.scope = "monitoring", .target = kUnknown, .type = kJson}), Api::cloudwatch);
  EXPECT_EQ(route({.scope = "lambda", .target = kUnknown, .type = kJson}), Api::lambda);
  EXPECT_EQ(route({.scope = "iam", .target = kUnknown, .type = kJson}), Api::iam);
  EXPECT_EQ(route({.scope = "sts", .target = kUnknown, .type = kJson}), Api::sts);
  EXPECT_EQ(route({.scope = "ssm", .target = kUnknown, .type = kJson}), Api::ssm);
  EXPECT_EQ(route({.scope = "s3", .target = kUnknown, .type = kJson}), Api::s3);
  EXPECT_EQ(route({.scope = "dynamodb", .target = kUnknown, .type = kJson}), Api::sqs);
  EXPECT_EQ(route({.target = kUnknown, .type = kJson}), Api::sqs);
}

TEST(Routing, TheConsoleHasAPathOfItsOwn) {
  EXPECT_EQ(route({.method = "GET", .path = "/console/"}), Api::console);
  EXPECT_EQ(route({.method = "GET", .path = "/console/queues/orders"}), Api::console);
  EXPECT_EQ(route({.method = "GET", .path = "/console/queues", .scope = "s3"}), Api::s3);
  EXPECT_EQ(route({.method = "GET", .path = "/consoles/queues"}), Api::s3);
  EXPECT_EQ(route({.path = "/console/", .target = "AmazonSQS.SendMessage"}), Api::sqs);
}

TEST(Routing, TheScopeDecidesWithoutATarget) {
  EXPECT_EQ(route({.scope = "sqs", .type = kForm}), Api::sqs);
  EXPECT_EQ(route({.scope = "iam", .type = kForm}), Api::iam);
  EXPECT_EQ(route({.path = "/bucket", .scope = "s3"}), Api::s3);
  EXPECT_EQ(route({.scope = "s3", .type = kForm, .body = "Action=ListQueues"}), Api::sqs);
  EXPECT_EQ(route({.method = "GET", .path = "/bucket/key", .scope = "s3"}), Api::s3);
  EXPECT_EQ(route({.method = "GET", .path = "/000000000000/orders", .scope = "sqs"}), Api::sqs);
  EXPECT_EQ(route({.method = "GET", .path = "/elsewhere", .scope = "lambda"}), Api::lambda);
}

TEST(Routing, DatedPathsAreLambdas) {
  for (const std::string_view path :
       {"/2015-03-31/functions/", "/2015-03-31/unheard-of", "/2026-12-31/x/y", "/2020-01-01/"}) {
    for (const std::string_view method : {"GET", "PUT", "POST", "DELETE", "HEAD", "PATCH"}) {
      EXPECT_EQ(route({.method = method, .path = path}), Api::lambda) << method << path;
      EXPECT_EQ(route({.method = method, .path = path, .scope = "lambda"}), Api::lambda);
    }
  }
  // A bucket may have such a name; only its signature tells.
  EXPECT_EQ(route({.method = "GET", .path = "/2015-03-31/key", .scope = "s3"}), Api::s3);
}

TEST(Routing, PathsOfTheServerAreItsOwn) {
  EXPECT_EQ(route({.method = "GET", .path = "/_redrive/v1/overview", .scope = "s3"}),
            Api::management);
  EXPECT_EQ(route({.method = "POST", .path = "/_redrive/v1/failures", .type = kForm}),
            Api::management);
  EXPECT_EQ(route({.method = "GET", .path = "/_redrive/v1/functions/f/logs"}), Api::lambda);
  EXPECT_EQ(route({.method = "GET", .path = "/metrics"}), Api::metrics);
  EXPECT_EQ(route({.method = "GET", .path = "/metrics", .scope = "sqs"}), Api::metrics);
  EXPECT_EQ(route({.method = "GET", .path = "/metrics", .scope = "s3"}), Api::s3);
  EXPECT_EQ(route({.method = "GET", .path = "/health"}), Api::sqs);
  EXPECT_EQ(route({.method = "GET", .path = "/"}), Api::sqs);
}

TEST(Routing, UnsignedRequestsAreToldApartByTheirLooks) {
  EXPECT_EQ(route({.type = kForm, .body = "Action=ListRoles&Version=2010-05-08"}), Api::iam);
  EXPECT_EQ(route({.type = kForm, .body = "Action=GetCallerIdentity&Version=2011-06-15"}),
            Api::sts);
  EXPECT_EQ(route({.type = kForm, .body = "Action=ListMetrics&Version=2010-08-01"}),
            Api::cloudwatch);
  EXPECT_EQ(route({.type = kForm, .body = "Action=ListQueues&Version=2012-11-05"}), Api::sqs);
  EXPECT_EQ(route({.method = "PUT", .path = "/bucket/key"}), Api::s3);
}

}  // namespace
}  // namespace redrive::app
