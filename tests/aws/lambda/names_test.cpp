#include "aws/lambda/names.h"

#include <gtest/gtest.h>

#include "aws/lambda/functions.h"
#include "aws/lambda/routes.h"

namespace redrive::lambda {
namespace {

const Home kHome{"111111111111", "us-east-1"};

TEST(FunctionNames, AreUnderstoodInEveryForm) {
  const struct {
    const char* text;
    const char* arn;
    const char* qualifier;
  } cases[] = {
      {"resize", "arn:aws:lambda:us-east-1:111111111111:function:resize", ""},
      {"resize:$LATEST", "arn:aws:lambda:us-east-1:111111111111:function:resize", "$LATEST"},
      {"resize:7", "arn:aws:lambda:us-east-1:111111111111:function:resize", "7"},
      {"function:resize", "arn:aws:lambda:us-east-1:111111111111:function:resize", ""},
      {"222222222222:function:resize:live",
       "arn:aws:lambda:us-east-1:222222222222:function:resize",
       "live"},
      {"arn:aws:lambda:eu-west-1:222222222222:function:resize",
       "arn:aws:lambda:eu-west-1:222222222222:function:resize",
       ""},
      {"arn:aws:lambda:eu-west-1:222222222222:function:resize:$LATEST",
       "arn:aws:lambda:eu-west-1:222222222222:function:resize",
       "$LATEST"},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.text);
    const auto called = parse_function_name(each.text, kHome);
    ASSERT_TRUE(called.has_value());
    EXPECT_EQ(called->id.arn(), each.arn);
    EXPECT_EQ(called->qualifier, each.qualifier);
    EXPECT_EQ(without_qualifier(called->arn()), each.arn);
  }
}

TEST(FunctionNames, RefuseWhatIsNone) {
  for (const std::string& text : {std::string(),
                                  std::string("a b"),
                                  std::string("a/b"),
                                  std::string("a:b:c"),
                                  std::string("a:"),
                                  std::string("arn:aws:sqs:us-east-1:111111111111:q"),
                                  std::string("arn:aws:lambda:us-east-1:x:function:a"),
                                  std::string("ü"),
                                  std::string(65, 'a'),
                                  std::string(300, 'a')}) {
    SCOPED_TRACE(text);
    const auto called = parse_function_name(text, kHome);
    ASSERT_FALSE(called.has_value());
    EXPECT_EQ(called.error().code, "ValidationException");
  }
}

TEST(LambdaRoutes, BelongToThisRoom) {
  for (const char* path : {"/2015-03-31/functions",
                           "/2015-03-31/functions/",
                           "/2017-03-31/tags/arn%3Aaws",
                           "/2020-06-30/functions/f/code-signing-config",
                           "/2015-03-31/event-source-mappings/",
                           "/2015-03-31/objects",
                           "/2026-01-01/unheard-of/f",
                           "/2015-03-31/",
                           "/_redrive/v1/functions/f/logs"}) {
    EXPECT_TRUE(is_lambda_path(path)) << path;
  }
  for (const char* path : {"/",
                           "/000000000000/orders",
                           "/bucket/2015-03-31/functions",
                           "/2015-03-31",
                           "/1999-03-31/functions",
                           "/2015x03-31/functions",
                           "/_redrive/v1/queues/functions/messages"}) {
    EXPECT_FALSE(is_lambda_path(path)) << path;
  }
}

TEST(LambdaRoutes, LeadToOperations) {
  const auto operation = [](std::string_view method, std::string_view path) -> std::string_view {
    const Match match = find_route(method, path);
    return match.route == nullptr ? "" : match.route->operation;
  };
  EXPECT_EQ(operation("GET", "/2015-03-31/functions/"), "ListFunctions");
  EXPECT_EQ(operation("GET", "/2015-03-31/functions/a"), "GetFunction");
  EXPECT_EQ(operation("PUT", "/2015-03-31/functions/a/code"), "UpdateFunctionCode");
  EXPECT_EQ(operation("GET", "/2019-09-25/functions/a/event-invoke-config/list"),
            "ListFunctionEventInvokeConfigs");
  EXPECT_EQ(operation("PATCH", "/2015-03-31/functions/a"), "");
  EXPECT_EQ(operation("GET", "/2015-03-31/functions/a/unheard-of"), "");
  EXPECT_EQ(find_route("GET", "/2017-03-31/tags/arn%3Aaws%3Ax").parameters.front().second,
            "arn:aws:x");
}

}  // namespace
}  // namespace redrive::lambda
