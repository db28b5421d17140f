#include "cli/client/endpoint.h"

#include <gtest/gtest.h>

#include "tests/cli/fake_environment.h"

namespace redrive::cli {
namespace {

const std::optional<auth::Credentials> kTest = auth::Credentials{"test", "test", ""};

TEST(ResolveEndpoint, HasDefaultsForThisMachine) {
  const auto endpoint = resolve_endpoint({}, FakeEnvironment(), "orders");
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->url, "http://127.0.0.1:9324");
  EXPECT_EQ(endpoint->host, "127.0.0.1:9324");
  EXPECT_EQ(endpoint->request_url(), "http://127.0.0.1:9324/");
  EXPECT_EQ(endpoint->region, "us-east-1");
  EXPECT_EQ(endpoint->credentials, kTest);
}

TEST(ResolveEndpoint, ReadsUrls) {
  const struct {
    const char* url;
    const char* host;
    const char* request_url;
  } cases[] = {
      {"http://localhost:80", "localhost", "http://localhost/"},
      {"https://localhost:443/", "localhost", "https://localhost/"},
      {"http://[::1]:9324/base/", "[::1]:9324", "http://[::1]:9324/base/"},
      {"http://[::1]", "[::1]", "http://[::1]/"},
      {"http://localhost:443", "localhost:443", "http://localhost:443/"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.url);
    const auto endpoint =
        resolve_endpoint({.client = {.endpoint_url = test.url}}, FakeEnvironment(), "");
    ASSERT_TRUE(endpoint);
    EXPECT_EQ(endpoint->host, test.host);
    EXPECT_EQ(endpoint->request_url(), test.request_url);
    EXPECT_EQ(endpoint->credentials, kTest);
  }
}

TEST(ResolveEndpoint, RefusesWhatIsNoUrl) {
  for (const char* url : {"localhost:9324",
                          "ftp://localhost",
                          "http://",
                          "http://a b",
                          "http://u@localhost",
                          "http://localhost/?x"}) {
    SCOPED_TRACE(url);
    const auto endpoint =
        resolve_endpoint({.client = {.endpoint_url = url}}, FakeEnvironment(), "");
    ASSERT_FALSE(endpoint);
    EXPECT_EQ(endpoint.error().kind, Failure::Kind::usage);
  }
}

TEST(ResolveEndpoint, TakesTheServerFromAQueueUrlWhenNothingElseNamesOne) {
  const char* queue = "http://localhost:1234/000000000000/orders";
  EXPECT_EQ(resolve_endpoint({}, FakeEnvironment(), queue)->url, "http://localhost:1234");
  FakeEnvironment environment;
  environment.variables["AWS_ENDPOINT_URL"] = "http://localhost:5678";
  EXPECT_EQ(resolve_endpoint({}, environment, queue)->url, "http://localhost:5678");
}

// The default test keys must not be sent to a remote server.
TEST(ResolveEndpoint, NeedsCredentialsAwayFromThisMachine) {
  CommonOptions options{.client = {.endpoint_url = "http://queues.example"}};
  const auto without = resolve_endpoint(options, FakeEnvironment(), "");
  ASSERT_FALSE(without);
  EXPECT_EQ(without.error().kind, Failure::Kind::usage);

  FakeEnvironment environment;
  environment.variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "B"}};
  EXPECT_EQ(resolve_endpoint(options, environment, "")->credentials->access_key, "A");

  options.no_sign_request = true;
  EXPECT_EQ(resolve_endpoint(options, environment, "")->credentials, std::nullopt);
}

}  // namespace
}  // namespace redrive::cli
