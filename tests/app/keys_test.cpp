#include "app/keys.h"

#include <gtest/gtest.h>

#include "base/calendar.h"
#include "base/clock.h"
#include "front/gate.h"
#include "tests/app/temporary_directory.h"

namespace redrive::app {
namespace {

constexpr std::string_view kOne = "[[key]]\nid = 'ONE'\nsecret = 's'\nrole = 'admin'\n";
constexpr std::string_view kTwo = "[[key]]\nid = 'TWO'\nsecret = 's'\nrole = 'reader'\n";

TEST(KeyRing, FillsInTheAccountAndTheCommonRate) {
  const Config config{
      .account = "111111111111",
      .requests_per_second_max = 7,
      .keys = {{.id = "ONE", .secret = "s"},
               {.id = "TWO", .secret = "s", .account = "222222222222", .requests_per_second = 3}}};
  const auto ring = key_ring(config);
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->find("ONE")->account, "111111111111");
  EXPECT_EQ(ring->find("ONE")->requests_per_second, 7u);
  EXPECT_EQ(ring->find("TWO")->account, "222222222222");
  EXPECT_EQ(ring->find("TWO")->requests_per_second, 3u);
}

// The account of the command line wins over that of the file, also when keys are read again.
TEST(ReloadKeys, KeysStayInTheAccountOfTheServer) {
  const TemporaryDirectory directory;
  const Config config{
      .file = directory.write("redrive.toml", "account = '111111111111'\n" + std::string(kOne)),
      .account = "222222222222",
      .keys = {{.id = "ONE", .secret = "s"}}};
  EXPECT_EQ(read_fresh_keys(config)->find("ONE")->account, "222222222222");
}

class ReloadKeysTest : public testing::Test {
 protected:
  // The configuration as a start reads it, with the keys in use.
  Config start(std::string_view text) {
    Config config{.file = directory_.write("redrive.toml", text)};
    EXPECT_TRUE(load_config(config));
    gate_.use(*key_ring(config));
    return config;
  }
  Result<void> reload(const Config& config, std::string_view text) {
    directory_.write("redrive.toml", text);
    gate_.use(TRY(read_fresh_keys(config)));
    return {};
  }
  // Why a request of this key is refused: its signature is never right, but known keys and unknown
  // ones are refused in different words.
  std::string refusal_of(std::string_view key) {
    http::Request request{.method = "POST", .path = "/"};
    const std::string authorization = "AWS4-HMAC-SHA256 Credential=" + std::string(key) +
                                      "/20260101/us-east-1/sqs/aws4_request, "
                                      "SignedHeaders=host;x-amz-date, Signature=0";
    request.headers.push_back({"authorization", authorization});
    request.headers.push_back({"host", "localhost"});
    request.headers.push_back({"x-amz-date", "20260101T000000Z"});
    const auto caller = gate_.admit(request, front::Gate::Api::sqs);
    return caller ? "" : caller.error().message;
  }

  TemporaryDirectory directory_;
  ManualClock clock_{*parse_utc("2026-01-01T00:00:00Z")};
  front::Gate gate_{{}, clock_};
};

TEST_F(ReloadKeysTest, TakesTheNewKeysAndForgetsTheOld) {
  const Config config = start(kOne);
  ASSERT_NE(refusal_of("TWO"), refusal_of("ONE"));
  const std::string unknown = refusal_of("TWO");
  ASSERT_TRUE(reload(config, kTwo));
  EXPECT_EQ(refusal_of("ONE"), unknown);
  EXPECT_NE(refusal_of("TWO"), unknown);
}

TEST_F(ReloadKeysTest, KeepsTheKeysWhenTheFileCannotBeRead) {
  const Config config = start(kOne);
  const std::string known = refusal_of("ONE");
  EXPECT_FALSE(reload(config, "[[key]]\nid = 'TWO'\n"));
  EXPECT_FALSE(reload(config, "not toml"));
  EXPECT_EQ(refusal_of("ONE"), known);
}

// Removing the last key would open the server to everyone.
TEST_F(ReloadKeysTest, RefusesToOpenOrCloseTheServer) {
  const Config closed = start(kOne);
  EXPECT_FALSE(reload(closed, ""));
  EXPECT_FALSE(gate_.open());
}

TEST_F(ReloadKeysTest, RefusesKeysForAServerWithoutKeys) {
  const Config open = start("");
  EXPECT_FALSE(reload(open, kOne));
  EXPECT_TRUE(gate_.open());
}

}  // namespace
}  // namespace redrive::app
