#include "aws/sqs/call.h"

#include <gtest/gtest.h>

#include "tests/core/engine/engine_world.h"

namespace redrive::sqs {
namespace {

// Only the last two segments of a URL count: clients reach the server under many names.
TEST(IdentityFromUrl, TakesAccountAndNameFromTheEnd) {
  struct Case {
    const char* url;
    const char* account;
    const char* name;
  };
  const Case cases[] = {
      {"http://127.0.0.1:9324/123456789012/orders", "123456789012", "orders"},
      {"https://sqs.us-east-1.amazonaws.com/123456789012/orders.fifo",
       "123456789012",
       "orders.fifo"},
      {"http://host/some/prefix/123456789012/orders", "123456789012", "orders"},
      {"http://host/123456789012/orders/", "123456789012", "orders"},
      {"http://host/123456789012/orders//", "123456789012", "orders"},
      {"/123456789012/orders", "123456789012", "orders"},
      {"123456789012/orders", "123456789012", "orders"},
      {"orders", "own", "orders"},
      {"/orders", "own", "orders"},
      {"//orders", "own", "orders"},
  };
  for (const auto& [url, account, name] : cases) {
    const auto identity = identity_from_url(url, "own", "region");
    ASSERT_TRUE(identity.has_value()) << url;
    EXPECT_EQ(identity->account, account) << url;
    EXPECT_EQ(identity->name, name) << url;
    EXPECT_EQ(identity->region, "region") << url;
  }
}

TEST(IdentityFromUrl, WithoutANameThereIsNone) {
  for (const char* url : {"", "/", "///"}) {
    EXPECT_EQ(identity_from_url(url, "own", "region"), std::nullopt) << url;
  }
}

struct CallTest : testing::Test {
  engine::EngineWorld world;
  ServiceOptions options;
  Call call{world.engine(), options};

  CallTest() {
    call.account = "000000000000";
    call.region = "us-east-1";
    call.host = "server:9324";
  }
};

TEST_F(CallTest, TheParameterComesBeforeThePath) {
  call.path = "/000000000000/by-path";
  EXPECT_EQ(call.queue("http://x/000000000000/by-parameter")->name, "by-parameter");
  EXPECT_EQ(call.queue("")->name, "by-path");
}

TEST_F(CallTest, NeitherIsAMissingParameter) {
  EXPECT_EQ(
      call.queue("").error(),
      (Error{ErrorCode::missing_parameter, "The request must contain the parameter QueueUrl."}));
}

TEST_F(CallTest, AUrlLeadsBackToItsQueue) {
  const queue::QueueIdentity identity{"123456789012", "us-east-1", "orders"};
  EXPECT_EQ(call.url_of(identity), "http://server:9324/123456789012/orders");
  EXPECT_EQ(*call.queue(call.url_of(identity)), identity);
}

}  // namespace
}  // namespace redrive::sqs
