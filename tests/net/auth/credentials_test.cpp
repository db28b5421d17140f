#include "net/auth/credentials.h"

#include <gtest/gtest.h>

#include <map>

#include "net/auth/profile.h"

namespace redrive::auth {
namespace {

struct FakeEnvironment final : Environment {
  std::map<std::string, std::string, std::less<>> variables = {{"HOME", "/home/ann"}};
  std::map<std::string, std::string> files;

  std::optional<std::string> variable(std::string_view name) const override {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<std::string> file(const std::string& path) const override {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
};

FakeEnvironment with_files() {
  FakeEnvironment environment;
  environment.files["/home/ann/.aws/credentials"] =
      "[default]\n"
      "aws_access_key_id = FILE\n"
      "aws_secret_access_key=file/secret+#=  # a comment\n"
      "[work]\n"
      "aws_access_key_id = WORK\r\n"
      "aws_secret_access_key = work-secret\r\n"
      "aws_session_token = work-token\r\n"
      "[half]\n"
      "aws_access_key_id = HALF\n";
  environment.files["/home/ann/.aws/config"] =
      "; the config file writes [profile x]\n"
      "[default]\n"
      "region = eu-west-1\n"
      "[profile work]\n"
      "region = eu-north-1\n"
      "endpoint_url = http://plain\n"
      "[profile local]\n"
      "services = here\n"
      "aws_access_key_id = LOCAL\n"
      "aws_secret_access_key = local-secret\n"
      "[services here]\n"
      "s3 =\n"
      "  endpoint_url = http://s3\n"
      "sqs =\n"
      "  endpoint_url = http://sqs\n";
  return environment;
}

TEST(ClientSettings, ReadsTheFilesOfTheDefaultProfile) {
  const auto settings = find_client_settings({}, with_files());
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->credentials, (Credentials{"FILE", "file/secret+#=", ""}));
  EXPECT_EQ(settings->region, "eu-west-1");
  EXPECT_EQ(settings->endpoint_url, std::nullopt);
}

TEST(ClientSettings, IsEmptyWhenNothingIsConfigured) {
  EXPECT_EQ(find_client_settings({}, FakeEnvironment()), ClientSettings());
}

TEST(ClientSettings, ReadsANamedProfile) {
  FakeEnvironment environment = with_files();
  environment.variables["AWS_PROFILE"] = "work";
  const auto settings = find_client_settings({}, environment);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->credentials, (Credentials{"WORK", "work-secret", "work-token"}));
  EXPECT_EQ(settings->region, "eu-north-1");
  EXPECT_EQ(settings->endpoint_url, "http://plain");
}

TEST(ClientSettings, ReadsTheServicesSection) {
  const auto settings = find_client_settings({.profile = "local"}, with_files());
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->endpoint_url, "http://sqs");
  EXPECT_EQ(settings->credentials->access_key, "LOCAL");
}

TEST(ClientSettings, PrefersVariablesToFiles) {
  FakeEnvironment environment = with_files();
  environment.variables.insert({{"AWS_ACCESS_KEY_ID", "ENV"},
                                {"AWS_SECRET_ACCESS_KEY", "env-secret"},
                                {"AWS_SESSION_TOKEN", "env-token"},
                                {"AWS_DEFAULT_REGION", "ap-south-1"},
                                {"AWS_ENDPOINT_URL", "http://any"}});
  auto settings = find_client_settings({}, environment);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->credentials, (Credentials{"ENV", "env-secret", "env-token"}));
  EXPECT_EQ(settings->region, "ap-south-1");
  EXPECT_EQ(settings->endpoint_url, "http://any");

  environment.variables.insert({{"AWS_REGION", "sa-east-1"}, {"AWS_ENDPOINT_URL_SQS", "http://q"}});
  settings = find_client_settings({}, environment);
  EXPECT_EQ(settings->region, "sa-east-1");
  EXPECT_EQ(settings->endpoint_url, "http://q");
}

TEST(ClientSettings, PrefersTheCommandLineToAll) {
  FakeEnvironment environment = with_files();
  environment.variables.insert({{"AWS_ACCESS_KEY_ID", "ENV"},
                                {"AWS_SECRET_ACCESS_KEY", "env-secret"},
                                {"AWS_REGION", "sa-east-1"},
                                {"AWS_ENDPOINT_URL_SQS", "http://q"}});
  const auto settings = find_client_settings(
      {.endpoint_url = "http://me", .region = "mars-1", .profile = "work"}, environment);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->endpoint_url, "http://me");
  EXPECT_EQ(settings->region, "mars-1");
  EXPECT_EQ(settings->credentials->access_key, "WORK");
}

TEST(ClientSettings, ReadsFilesThatVariablesName) {
  FakeEnvironment environment;
  environment.variables["AWS_SHARED_CREDENTIALS_FILE"] = "~/keys";
  environment.variables["AWS_CONFIG_FILE"] = "/etc/aws";
  environment.files["/home/ann/keys"] = "[default]\naws_access_key_id=A\naws_secret_access_key=B\n";
  environment.files["/etc/aws"] = "[profile default]\nregion=x\n";
  const auto settings = find_client_settings({}, environment);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->credentials, (Credentials{"A", "B", ""}));
  EXPECT_EQ(settings->region, "x");
}

TEST(ClientSettings, TakesEmptyVariablesForAbsent) {
  FakeEnvironment environment = with_files();
  environment.variables.insert({{"AWS_ACCESS_KEY_ID", ""}, {"AWS_REGION", ""}});
  const auto settings = find_client_settings({}, environment);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->credentials->access_key, "FILE");
  EXPECT_EQ(settings->region, "eu-west-1");
}

TEST(ClientSettings, RefusesHalfAPairAndUnknownProfiles) {
  const auto half = find_client_settings({.profile = "half"}, with_files());
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, ErrorCode::usage);
  const auto unknown = find_client_settings({.profile = "nobody"}, with_files());
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "The profile 'nobody' does not exist.");
}

TEST(ParseProfiles, PassesOverWhatItCannotRead) {
  const Sections sections = parse_profiles("stray = 1\n[a]\nno equals\nx=1\n[broken\ny=2\n[]\nz=3");
  EXPECT_EQ(sections, (Sections{{"a", {{"x", "1"}}}, {"", {{"z", "3"}}}}));
}

}  // namespace
}  // namespace redrive::auth
