#include "aws/iam/service.h"

#include <gtest/gtest.h>

#include <regex>

#include "tests/core/engine/engine_world.h"
#include "tests/front/fake_exchange.h"

namespace redrive::iam {
namespace {

constexpr std::string_view kFormType = "application/x-www-form-urlencoded; charset=utf-8";

http::Request post(std::string_view type, std::string_view body,
                   std::string_view authorization = {}) {
  http::Request request;
  request.method = "POST";
  request.path = "/";
  request.body = body;
  request.headers = {{"Content-Type", type}};
  if (!authorization.empty()) request.headers.push_back({"Authorization", authorization});
  return request;
}

TEST(ServiceOf, TheScopeOfTheSignatureComesBeforeTheVersion) {
  const struct {
    std::string_view type;
    std::string_view body;
    std::string_view authorization;
    std::optional<Service> service;
  } cases[] = {
      {kFormType, "Action=GetRole&Version=2010-05-08", "", Service::iam},
      {kFormType, "Version=2011-06-15&Action=GetCallerIdentity", "", Service::sts},
      {kFormType, "Action=ListQueues&Version=2012-11-05", "", std::nullopt},
      {kFormType, "Action=SendMessage&MessageBody=Version=2010-05-08x", "", std::nullopt},
      {kFormType, "", "", std::nullopt},
      {"application/x-amz-json-1.0", "Version=2010-05-08", "", std::nullopt},
      {kFormType,
       "Action=ListRoles",
       "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, "
       "Signature=0",
       Service::iam},
      {kFormType,
       "Action=ListQueues&Version=2010-05-08",
       "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/sqs/aws4_request, SignedHeaders=host, "
       "Signature=0",
       std::nullopt},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.body);
    EXPECT_EQ(service_of(post(each.type, each.body, each.authorization)), each.service);
  }
}

struct EndpointTest : testing::Test {
  front::FakeReply ask(const std::string& form, Service service = Service::iam) {
    const struct {
      const Endpoint& endpoint;
      Service service;
      void handle(http::Exchange& exchange) const { endpoint.handle(exchange, service); }
    } one{endpoint, service};
    return front::post(one, {{"Content-Type", kFormType}}, form);
  }
  // The answer without the parts that differ from one run to the next.
  std::string answer(const std::string& form, Service service = Service::iam) {
    static const std::regex kIds("<RequestId>[^<]*<|A(ROA|NPA)[A-Z2-7]{17}");
    return std::regex_replace(ask(form, service).body, kIds, "<id>");
  }

  engine::EngineWorld world;
  front::Gate gate{{}, world.clock};
  int changes = 0;
  Endpoint endpoint{{.engine = world.engine(), .changed = [this] { ++changes; }}, gate};
};

constexpr std::string_view kEnd = "<ResponseMetadata><id>/RequestId></ResponseMetadata></";

TEST_F(EndpointTest, ReadsTagsAndLists) {
  ask("Action=CreateRole&RoleName=r&AssumeRolePolicyDocument=%7B%7D"
      "&Tags.member.1.Key=a&Tags.member.1.Value=b%20c&Tags.member.2.Key=x&Tags.member.2.Value=");
  EXPECT_TRUE(ask("Action=ListRoleTags&RoleName=r")
                  .has("<Tags><member><Key>a</Key><Value>b c</Value></member>"
                       "<member><Key>x</Key><Value></Value></member></Tags>"));
  ask("Action=UntagRole&RoleName=r&TagKeys.member.1=x&TagKeys.member.2=y");
  EXPECT_TRUE(ask("Action=ListRoleTags&RoleName=r")
                  .has("<Tags><member><Key>a</Key><Value>b c</Value></member></Tags>"));
  EXPECT_EQ(changes, 2);
}

TEST_F(EndpointTest, RefusesWhatIsTooMuchOrNoText) {
  const auto code_of = [&](const std::string& form) {
    const std::string body = ask(form).body;
    const std::size_t at = body.find("<Code>") + 6;
    return body.substr(at, body.find('<', at) - at);
  };
  ask("Action=CreateRole&RoleName=r&AssumeRolePolicyDocument=%7B%7D");
  EXPECT_EQ(code_of("Action=GetRole&RoleName=%ff"), "MalformedQueryString");
  EXPECT_EQ(code_of("Action=GetRole"), "ValidationError");
  EXPECT_EQ(code_of("Action=GetRole&RoleName="), "ValidationError");
  EXPECT_EQ(code_of("Action=ListRoles&MaxItems=0"), "ValidationError");
  EXPECT_EQ(code_of("Action=ListRoles&MaxItems=many"), "ValidationError");
  EXPECT_EQ(code_of("Action=Fly"), "InvalidAction");
  EXPECT_EQ(code_of("Version=2010-05-08"), "MissingAction");
  std::string many = "Action=ListRoles";
  for (int i = 0; i < 30'000; ++i) many += "&p" + std::to_string(i) + "=1";
  EXPECT_EQ(code_of(many), "MalformedQueryString");
  std::string tags = "Action=TagRole&RoleName=r";
  for (int i = 1; i < 60; ++i) {
    tags += "&Tags.member." + std::to_string(i) + ".Key=k" + std::to_string(i);
  }
  EXPECT_EQ(code_of(tags), "ValidationError");  // A tag without a value.
  for (int i = 1; i < 60; ++i) tags += "&Tags.member." + std::to_string(i) + ".Value=v";
  EXPECT_EQ(code_of(tags), "LimitExceeded");
}

TEST_F(EndpointTest, EscapesWhatClientsWrote) {
  EXPECT_TRUE(
      ask("Action=GetRole&RoleName=%3Crole%3E%20%26").has("name &lt;role&gt; &amp; cannot"));
}

// Clients tell an empty result from none.
TEST_F(EndpointTest, OnlySomeChangesHaveAResult) {
  ask("Action=CreateRole&RoleName=r&AssumeRolePolicyDocument=%7B%7D");
  EXPECT_EQ(answer("Action=UpdateRole&RoleName=r&Description=d"),
            "<UpdateRoleResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\">"
            "<UpdateRoleResult></UpdateRoleResult>" +
                std::string(kEnd) + "UpdateRoleResponse>");
  EXPECT_EQ(answer("Action=DeleteRole&RoleName=r"),
            "<DeleteRoleResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\">" +
                std::string(kEnd) + "DeleteRoleResponse>");
}

TEST_F(EndpointTest, ListsComeInPages) {
  for (const char name : {'a', 'b', 'c'}) {
    ask(std::string("Action=CreateRole&AssumeRolePolicyDocument=%7B%7D&RoleName=") + name);
  }
  EXPECT_TRUE(
      ask("Action=ListRoles&MaxItems=2").has("<IsTruncated>true</IsTruncated><Marker>b</Marker>"));
  const front::FakeReply rest = ask("Action=ListRoles&MaxItems=2&Marker=b");
  EXPECT_TRUE(rest.has("<RoleName>c</RoleName>") && !rest.has("<RoleName>b</RoleName>"));
  EXPECT_TRUE(rest.has("<IsTruncated>false</IsTruncated></ListRolesResult>"));
  EXPECT_TRUE(ask("Action=ListPolicies").has("<Policies></Policies>"));
}

}  // namespace
}  // namespace redrive::iam
