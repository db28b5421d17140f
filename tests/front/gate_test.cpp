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

// A request of the web console with the cookie of a session; it must not move.
struct ConsoleRequest {
  explicit ConsoleRequest(const std::string& token)
      : cookie("theme=dark; redrive-session=" + token) {
    request.method = "GET";
    request.path = "/";
    request.host = "localhost:9324";
    request.headers = {{"Host", "localhost:9324"}, {"Cookie", cookie}, {"x-redrive-console", "1"}};
  }
  ConsoleRequest(const ConsoleRequest&) = delete;
  ConsoleRequest& with(std::string_view name, std::string_view value) {
    request.headers.push_back({name, value});
    return *this;
  }

  std::string cookie;
  http::Request request;
};

class GateSessionTest : public GateTest {
 protected:
  std::string signed_in(const std::string& id = "ADMIN") {
    return *gate_.open_session(*admit(id, "sqs", Gate::Api::sqs));
  }
  ErrorCode refusal(const ConsoleRequest& made) {
    const auto caller = gate_.admit(made.request, Gate::Api::sqs);
    EXPECT_FALSE(caller.has_value());
    return caller ? ErrorCode::usage : caller.error().code;
  }
};

TEST_F(GateSessionTest, SessionIsAcceptedOnEveryApi) {
  const ConsoleRequest made(signed_in());
  for (const Gate::Api& api : {Gate::Api::sqs,
                               Gate::Api::s3,
                               Gate::Api::lambda,
                               Gate::Api::iam,
                               Gate::Api::sts,
                               Gate::Api::monitoring,
                               Gate::Api::management}) {
    const auto caller = gate_.admit(made.request, api);
    ASSERT_TRUE(caller.has_value());
    EXPECT_EQ(caller->key->id, "ADMIN");
    EXPECT_EQ(caller->sender_id, "ADMIN");
  }
}

// Other sites can make a browser send the cookie, but not the header, and not with our origin.
TEST_F(GateSessionTest, RequestsThatOtherSitesCauseAreUnsigned) {
  const std::string token = signed_in();
  ConsoleRequest bare(token);
  std::erase_if(bare.request.headers, [](const auto& h) { return h.name == "x-redrive-console"; });
  EXPECT_EQ(refusal(bare), ErrorCode::missing_authentication_token);
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"Origin", "http://evil.example"},
           {"Origin", "null"},
           {"Origin", "http://localhost:9324.evil.example"},
           {"Sec-Fetch-Site", "cross-site"},
           {"Sec-Fetch-Site", "same-site"},
           {"Sec-Fetch-Site", "none"}}) {
    SCOPED_TRACE(value);
    ConsoleRequest made(token);
    EXPECT_EQ(refusal(made.with(name, value)), ErrorCode::missing_authentication_token);
  }
  ConsoleRequest own(token);
  own.with("Origin", "https://localhost:9324").with("Sec-Fetch-Site", "same-origin");
  EXPECT_TRUE(gate_.admit(own.request, Gate::Api::sqs).has_value()) << "a proxy may end TLS";
}

TEST_F(GateSessionTest, SessionEndsWithItsKeyItsTimeAndSignOut) {
  const ConsoleRequest made(signed_in());
  EXPECT_EQ(gate_.session_left(made.request), Sessions::kSessionTime);
  gate_.use(*auth::KeyRing::make({key("OTHER")}));
  EXPECT_EQ(refusal(made), ErrorCode::missing_authentication_token);
  gate_.use(*auth::KeyRing::make({key("ADMIN")}));
  EXPECT_TRUE(gate_.admit(made.request, Gate::Api::sqs).has_value());
  gate_.close_session(made.request);
  EXPECT_EQ(refusal(made), ErrorCode::missing_authentication_token);
  const ConsoleRequest second(signed_in());
  clock_.advance(Sessions::kSessionTime);
  EXPECT_EQ(refusal(second), ErrorCode::missing_authentication_token);
}

TEST_F(GateSessionTest, SignatureCountsBeforeTheCookie) {
  ConsoleRequest made(signed_in());
  made.with("Authorization",
            "AWS4-HMAC-SHA256 Credential=NOBODY/20260101/us-east-1/sqs/aws4_request,"
            " SignedHeaders=host, Signature=0");
  EXPECT_NE(refusal(made), ErrorCode::missing_authentication_token);
}

TEST_F(GateSessionTest, LinkIsExchangedOnceForASession) {
  const std::string link = *gate_.make_link(*admit("ADMIN", "sqs", Gate::Api::sqs));
  EXPECT_EQ(refusal(ConsoleRequest(link)), ErrorCode::missing_authentication_token);
  const auto session = gate_.exchange_link(link);
  ASSERT_TRUE(session.has_value());
  EXPECT_TRUE(gate_.admit(ConsoleRequest(*session).request, Gate::Api::sqs).has_value());
  EXPECT_EQ(gate_.exchange_link(link).error().code, ErrorCode::invalid_client_token_id);
}

// Sessions are for servers with keys; without keys every request is let in as before.
TEST_F(GateSessionTest, OpenServerHasNoSessions) {
  Gate open({}, clock_);
  const Caller anybody = *open.admit(ConsoleRequest("token").request, Gate::Api::sqs);
  EXPECT_EQ(anybody.key, nullptr);
  EXPECT_FALSE(open.open_session(anybody).has_value());
  EXPECT_FALSE(open.make_link(anybody).has_value());
}

}  // namespace
}  // namespace redrive::front
