#include "app/app.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "net/http/client.h"
#include "tests/app/temporary_directory.h"

namespace redrive::app {
namespace {

using testing::HasSubstr;

// A whole server on a free port.
class AppTest : public testing::Test {
 protected:
  void start(Config config) {
    config_ = std::move(config);
    config_.listen = "127.0.0.1:0";
    config_.sandbox = "off";
    config_.drain_time = std::chrono::seconds(0);
    ASSERT_TRUE(check_config(config_));
    auto opened = open_all(config_);
    ASSERT_TRUE(opened) << opened.error().message;
    app_.emplace(config_, log_, *std::move(opened));
    const auto started = app_->start();
    ASSERT_TRUE(started) << started.error().message;
  }
  Config on_disk() const { return {.data = directory_.path("data")}; }

  http::ClientResponse send(http::ClientRequest request, std::string_view path) {
    request.url = "http://127.0.0.1:" + std::to_string(app_->port()) + std::string(path);
    const auto answer = client_.send(request);
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : http::ClientResponse();
  }
  http::ClientResponse get(std::string_view path) { return send({.method = "GET"}, path); }
  http::ClientResponse sqs(std::string_view action, std::string_view body) {
    return send({.headers = {{"X-Amz-Target", "AmazonSQS." + std::string(action)},
                             {"Content-Type", "application/x-amz-json-1.0"}},
                 .body = std::string(body)},
                "/");
  }

  TemporaryDirectory directory_;
  EventLog log_{LogFormat::text, "off"};
  Config config_;
  http::Client client_;
  std::optional<App> app_;
};

// One request for each API, as far as an unsigned one can be told apart.
TEST_F(AppTest, ServesEveryApiOnOnePort) {
  start({.memory = true});
  EXPECT_EQ(sqs("CreateQueue", R"({"QueueName":"orders"})").status, 200);
  EXPECT_THAT(get("/metrics").body, HasSubstr("redrive_"));
  EXPECT_THAT(get("/_redrive/v1/overview").body, HasSubstr("orders"));
  EXPECT_THAT(get("/2015-03-31/functions/").body, HasSubstr("Functions"));
  EXPECT_EQ(send({.method = "PUT"}, "/bucket").status, 200);
  const auto form = [&](std::string body) {
    return send({.headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
                 .body = std::move(body)},
                "/");
  };
  EXPECT_THAT(form("Action=ListRoles&Version=2010-05-08").body, HasSubstr("ListRolesResult"));
  EXPECT_THAT(form("Action=GetCallerIdentity&Version=2011-06-15").body, HasSubstr("Arn"));
  EXPECT_THAT(form("Action=ListMetrics&Version=2010-08-01").body, HasSubstr("ListMetricsResult"));
}

TEST_F(AppTest, WhatWasAnsweredIsThereAfterARestart) {
  start(on_disk());
  const auto made = sqs("CreateQueue", R"({"QueueName":"orders"})");
  ASSERT_EQ(made.status, 200) << made.body;
  EXPECT_EQ(send({.method = "PUT"}, "/bucket").status, 200);
  app_->stop();
  app_.reset();

  start(on_disk());
  EXPECT_EQ(sqs("GetQueueUrl", R"({"QueueName":"orders"})").status, 200);
  EXPECT_EQ(send({.method = "HEAD"}, "/bucket").status, 200);
}

TEST_F(AppTest, ADirectoryThatIsInUseCannotBeOpenedTwice) {
  start(on_disk());
  const auto second = open_all(config_);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
}

// The port is bound after the files were opened, and given back.
TEST_F(AppTest, APortThatIsInUseIsAnError) {
  start({.memory = true});
  const auto second = open_all(
      {.listen = "127.0.0.1:" + std::to_string(app_->port()), .data = directory_.path("other")});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
}

TEST_F(AppTest, MayEndWithoutHavingStarted) {
  config_ = on_disk();
  config_.listen = "127.0.0.1:0";
  auto opened = open_all(config_);
  ASSERT_TRUE(opened) << opened.error().message;
  app_.emplace(config_, log_, *std::move(opened));
  app_.reset();
  start(on_disk());  // Nothing is held any more.
}

TEST_F(AppTest, ReloadsItsKeysAndReopensItsAuditLog) {
  Config config = on_disk();
  config.file =
      directory_.write("redrive.toml", "[[key]]\nid = 'ONE'\nsecret = 's'\nrole = 'admin'\n");
  ASSERT_TRUE(load_config(config));
  start(config);
  EXPECT_EQ(sqs("ListQueues", "{}").status, 403);
  const std::string audit = directory_.path("data/audit.ndjson");
  std::filesystem::rename(audit, audit + ".moved");
  directory_.write("redrive.toml", "not toml");
  app_->reload();  // The keys stay, and the audit log is reopened all the same.
  EXPECT_TRUE(std::filesystem::exists(audit));
  EXPECT_EQ(sqs("ListQueues", "{}").status, 403);
}

// A server in memory leaves nothing behind, not even its buckets.
TEST_F(AppTest, InMemoryNothingIsWritten) {
  const std::filesystem::path data = directory_.path("data");
  start({.data = data.string(), .memory = true});
  EXPECT_EQ(sqs("CreateQueue", R"({"QueueName":"orders"})").status, 200);
  app_->stop();
  app_.reset();
  EXPECT_FALSE(std::filesystem::exists(data));
}

// Time stands still until it is moved, and a job's work is done by whoever moves it.
TEST_F(AppTest, AVirtualClockBeginsWhereItIsTold) {
  start({.memory = true, .virtual_clock = true, .virtual_clock_start = "2030-01-01T00:00:00Z"});
  EXPECT_THAT(get("/_redrive/v1/clock").body, HasSubstr("2030-01-01T00:00:00"));
}

TEST_F(AppTest, WebPagesAreRefusedByAServerWithoutKeys) {
  start({.memory = true});
  const auto answer = send({.headers = {{"Origin", "https://evil.example"}}, .body = "{}"}, "/");
  EXPECT_EQ(answer.status, 403);
}

}  // namespace
}  // namespace redrive::app
