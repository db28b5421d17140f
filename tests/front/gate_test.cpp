#include "front/gate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "net/auth/sigv4.h"

namespace redrive::front {
namespace {

constexpr Timestamp kNow(1'767'225'600'000);

auth::AccessKey key(const std::string& id) {
  return {.id = id, .secret = "secret-of-" + id, .account = "000000000000", .name = id};
}

// A request that `id` signed for a service; it must not move.
struct SignedRequest {
  SignedRequest(const std::string& id, const std::string& service) {
    const std::vector<auth::HeaderField> host = {{"Host", "localhost:9324"}};
    added = auth::sign({.method = "POST", .path = "/", .query = "", .headers = host, .body = "{}"},
                       {.access_key = id, .secret_key = "secret-of-" + id},
                       {.region = "us-east-1", .service = service},
                       kNow);
    request.method = "POST";
    request.path = "/";
    request.body = "{}";
    request.headers = {{"Host", "localhost:9324"}};
    for (const auto& [name, value] : added) request.headers.push_back({name, value});
  }
  SignedRequest(const SignedRequest&) = delete;

  auth::SignatureHeaders added;
  http::Request request;
};

class GateTest : public testing::Test {
 protected:
  GateTest() { gate_.use(*auth::KeyRing::make({key("ADMIN")})); }

  Result<Caller> admit(const std::string& id, const std::string& service, Gate::Api api) {
    const SignedRequest made(id, service);
    return gate_.admit(made.request, api);
  }
  bool lets_in(const std::string& id) { return admit(id, "sqs", Gate::Api::sqs).has_value(); }

  ManualClock clock_{kNow};
  Gate gate_{{}, clock_};
};

// A client that could choose the scope could choose its signing rules.
TEST_F(GateTest, EachApiAcceptsItsOwnScope) {
  using Api = Gate::Api;
  const struct {
    Api api;
    std::vector<std::string> scopes;
  } cases[] = {
      {Api::sqs, {"sqs"}},
      {Api::s3, {"s3"}},
      {Api::lambda, {"lambda"}},
      {Api::iam, {"iam"}},
      {Api::sts, {"sts"}},
      {Api::monitoring, {"monitoring"}},
      {Api::management, {"sqs", "lambda", "redrive"}},
  };
  for (const auto& one : cases) {
    for (const char* scope :
         {"sqs", "s3", "lambda", "iam", "sts", "monitoring", "redrive", "execute-api"}) {
      const bool own = std::ranges::find(one.scopes, scope) != one.scopes.end();
      EXPECT_EQ(admit("ADMIN", scope, one.api).has_value(), own)
          << one.scopes.front() << " " << scope;
    }
  }
}

TEST_F(GateTest, LentKeysTakeThePlaceOfThoseBefore) {
  EXPECT_FALSE(lets_in("F1"));
  gate_.lend({key("F1"), key("F2")});
  EXPECT_TRUE(lets_in("F1") && lets_in("F2") && lets_in("ADMIN"));
  gate_.lend({key("F2")});
  EXPECT_FALSE(lets_in("F1"));
  EXPECT_TRUE(lets_in("F2"));
  gate_.use(*auth::KeyRing::make({key("OTHER")}));
  EXPECT_TRUE(lets_in("F2") && lets_in("OTHER"));
  EXPECT_FALSE(lets_in("ADMIN"));
  gate_.lend({});
  EXPECT_FALSE(lets_in("F2"));
  EXPECT_EQ(admit("F2", "sqs", Gate::Api::sqs).error().code, ErrorCode::invalid_client_token_id);
}

TEST_F(GateTest, LendingDoesNotCloseAnOpenServer) {
  Gate open({}, clock_);
  open.lend({key("F1")});
  EXPECT_TRUE(open.open());
  const SignedRequest made("ANYBODY", "sqs");
  EXPECT_TRUE(open.admit(made.request, Gate::Api::sqs));
}

}  // namespace
}  // namespace redrive::front
