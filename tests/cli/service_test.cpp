#include "cli/client/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aws/sqs/model/actions.h"
#include "net/auth/sigv4.h"
#include "tests/cli/fake_server.h"

namespace redrive::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

struct ServiceTest : testing::Test {
  FakeServer server;
  ManualClock clock;
  Endpoint endpoint{.url = "http://localhost:9324/base",
                    .host = "localhost:9324",
                    .path = "/base",
                    .region = "eu-west-1",
                    .credentials = auth::Credentials{"AK", "SK", "TOKEN"}};

  Answer<std::string> purge() {
    Service service(endpoint, std::make_unique<FakeTransport>(server), clock);
    auto reply = service.call<sqs::GetQueueUrl>({.queue_name = "orders"});
    if (!reply) return std::unexpected(reply.error());
    return std::string((*reply)->queue_url);
  }
};

TEST_F(ServiceTest, PostsJsonToTheEndpoint) {
  server.answer("GetQueueUrl", R"({"QueueUrl":"http://h/0/orders"})");
  EXPECT_EQ(purge(), "http://h/0/orders");
  const http::ClientRequest& request = server.calls.at(0).request;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://localhost:9324/base");
  EXPECT_EQ(request.body, R"({"QueueName":"orders"})");
  EXPECT_THAT(request.headers, Contains(Pair("Content-Type", "application/x-amz-json-1.0")));
  EXPECT_THAT(request.headers, Contains(Pair("X-Amz-Target", "AmazonSQS.GetQueueUrl")));
  EXPECT_THAT(request.headers, Contains(Pair("x-amzn-query-mode", "true")));
}

TEST_F(ServiceTest, SignsSoThatAServerCanVerify) {
  server.answer("GetQueueUrl", R"({"QueueUrl":"u"})");
  ASSERT_TRUE(purge());
  const http::ClientRequest& request = server.calls.at(0).request;
  std::vector<auth::HeaderField> headers;
  for (const auto& [name, value] : request.headers) headers.push_back({name, value});
  const auth::RequestParts parts{
      .method = "POST", .path = "/base", .query = "", .headers = headers, .body = request.body};
  const auto claim = auth::claim_of(parts);
  ASSERT_TRUE(claim);
  EXPECT_EQ(claim->scope.access_key, "AK");
  EXPECT_EQ(claim->scope.region, "eu-west-1");
  EXPECT_EQ(claim->session_token, "TOKEN");
  constexpr std::string_view kServices[] = {"sqs"};
  EXPECT_TRUE(auth::verify(parts, *claim, "SK", {.now = clock.wall(), .services = kServices}));
}

TEST_F(ServiceTest, SendsNoSignatureWithoutCredentials) {
  endpoint.credentials.reset();
  server.answer("GetQueueUrl", R"({"QueueUrl":"u"})");
  ASSERT_TRUE(purge());
  EXPECT_THAT(server.calls.at(0).request.headers,
              testing::Not(Contains(Pair("Authorization", testing::_))));
}

TEST_F(ServiceTest, TellsWhyThereIsNoAnswer) {
  using Kind = Failure::Kind;
  const struct {
    const char* name;
    int status;
    const char* body;
    Failure expected;
  } cases[] = {
      {"modelled",
       400,
       R"({"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"No."})",
       {Kind::refused, "QueueDoesNotExist", "No."}},
      {"without namespace, capital message",
       403,
       R"({"__type":"AccessDenied","Message":"No."})",
       {Kind::refused, "AccessDenied", "No."}},
      {"throttled",
       403,
       R"({"__type":"x#RequestThrottled","message":"m"})",
       {Kind::busy, "RequestThrottled", "m"}},
      {"internal",
       500,
       R"({"__type":"x#InternalFailure","message":"m"})",
       {Kind::busy, "InternalFailure", "m"}},
      {"proxy page", 502, "<html>", {Kind::busy, "HTTP 502", "the server gave no reason"}},
      {"too many", 429, "", {Kind::busy, "HTTP 429", "the server gave no reason"}},
      {"not found", 404, "{}", {Kind::refused, "HTTP 404", "the server gave no reason"}},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    FakeServer fresh;
    fresh.answer("GetQueueUrl", test.body, test.status);
    Service service(endpoint, std::make_unique<FakeTransport>(fresh), clock);
    const auto reply = service.call<sqs::GetQueueUrl>({.queue_name = "q"});
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error(), test.expected) << reply.error().code << " " << reply.error().message;
  }
}

TEST_F(ServiceTest, SaysThatNobodyIsThere) {
  server.drop("GetQueueUrl");
  const auto answer = purge();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, Failure::Kind::network);
  EXPECT_EQ(answer.error().message,
            "no server at http://localhost:9324/base; start one with: redrive serve");
}

TEST_F(ServiceTest, DoesNotTrustASuccessItCannotRead) {
  server.answer("GetQueueUrl", "<html>hello</html>");
  server.answer("GetQueueUrl", R"({"Other":1})");
  for (int i = 0; i < 2; ++i) {
    const auto answer = purge();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, Failure::Kind::refused);
    EXPECT_THAT(answer.error().message, HasSubstr("does not seem to support the SQS API"));
  }
}

}  // namespace
}  // namespace redrive::cli
