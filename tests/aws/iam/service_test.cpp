#include "aws/iam/service.h"

#include <gtest/gtest.h>

#include "aws/iam/form.h"

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

TEST(Form, ReadsTagsAndLists) {
  const auto form = Form::parse(
      "", "Tags.member.1.Key=a&Tags.member.1.Value=b%20c&TagKeys.member.1=x&TagKeys.member.2=y");
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->tags().value(), (Tags{{"a", "b c"}}));
  EXPECT_EQ(form->list("TagKeys"), (std::vector<std::string>{"x", "y"}));
  EXPECT_FALSE(form->required("RoleName").has_value());
  EXPECT_EQ(form->number("MaxItems", 100, 1, 1000).value(), 100);
}

TEST(Form, RefusesWhatIsTooMuchOrNoText) {
  EXPECT_EQ(Form::parse("", "a=%ff").error().code, "MalformedQueryString");
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "&p" + std::to_string(i) + "=1";
  EXPECT_FALSE(Form::parse("", many).has_value());
  std::string tags;
  for (int i = 1; i < 60; ++i) {
    tags += "&Tags.member." + std::to_string(i) + ".Key=k" + std::to_string(i);
  }
  EXPECT_EQ(Form::parse("", tags)->tags().error().code, "LimitExceeded");
  EXPECT_EQ(Form::parse("", "MaxItems=0")->number("MaxItems", 100, 1, 1000).error().code,
            "ValidationError");
}

TEST(Documents, EscapeWhatClientsWrote) {
  const std::string document =
      error_document(Service::iam, {404, "NoSuchEntity", "no <role> & \"name\""}, "id");
  EXPECT_NE(document.find("no &lt;role&gt; &amp; "), std::string::npos) << document;
  Xml empty;
  EXPECT_EQ(success_document(Service::iam, "DeleteRole", empty, "id").find("Result>"),
            std::string::npos);
  empty.has_result();
  EXPECT_NE(success_document(Service::iam, "UpdateRole", empty, "id")
                .find("<UpdateRoleResult></UpdateRoleResult>"),
            std::string::npos);
}

}  // namespace
}  // namespace redrive::iam
