#include "net/auth/credential.h"

#include <gtest/gtest.h>

namespace redrive::auth {
namespace {

constexpr Scope kScope{
    .access_key = "AKID", .date = "20260101", .region = "eu-west-1", .service = "sqs"};

TEST(ScopeOf, ReadsHeaderAndPresignedQuery) {
  const struct {
    const char* name;
    std::string_view authorization;
    std::string_view query;
    std::optional<Scope> expected;
  } cases[] = {
      {"header",
       "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/sqs/aws4_request, SignedHeaders=host, "
       "Signature=00",
       "",
       kScope},
      {"header without blanks",
       "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/sqs/aws4_request,SignedHeaders=host",
       "",
       kScope},
      {"query, escaped",
       "",
       "Action=X&X-Amz-Credential=AKID%2F20260101%2feu-west-1%2Fsqs%2Faws4_request&X-Amz-Date=1",
       kScope},
      {"query, plain", "", "X-Amz-Credential=AKID/20260101/eu-west-1/sqs/aws4_request", kScope},
      {"other scheme, then the query",
       "Bearer abc",
       "X-Amz-Credential=AKID/20260101/eu-west-1/sqs/aws4_request",
       kScope},
      {"key with a slash",
       "Credential=a/b/20260101/eu-west-1/sqs/aws4_request",
       "",
       Scope{.access_key = "a/b", .date = "20260101", .region = "eu-west-1", .service = "sqs"}},
      {"nothing", "", "", std::nullopt},
      {"no terminator", "Credential=AKID/20260101/eu-west-1/sqs", "", std::nullopt},
      {"other terminator", "Credential=AKID/20260101/eu-west-1/sqs/aws5", "", std::nullopt},
      {"an empty key keeps its region",
       "Credential=/20260101/eu-west-1/sqs/aws4_request",
       "",
       Scope{.access_key = "", .date = "20260101", .region = "eu-west-1", .service = "sqs"}},
      {"too few parts", "Credential=20260101/eu-west-1/sqs/aws4_request", "", std::nullopt},
      {"empty region", "Credential=AKID/20260101//sqs/aws4_request", "", std::nullopt},
      {"empty", "Credential=", "X-Amz-Credential=", std::nullopt},
      {"slashes", "Credential=/////", "", std::nullopt},
      {"cut escape", "", "X-Amz-Credential=AKID%2", std::nullopt},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(scope_of(test.authorization, test.query), test.expected);
  }
}

// The server calls it for every request, and the result must not copy.
TEST(ScopeOf, PointsIntoTheHeader) {
  const std::string header = "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/sqs/aws4_request";
  const auto scope = scope_of(header, "");
  ASSERT_TRUE(scope);
  EXPECT_EQ(scope->access_key.data(), header.data() + header.find("AKID"));
}

}  // namespace
}  // namespace redrive::auth
