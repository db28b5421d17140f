#include "front/request_telemetry.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace redrive::front {
namespace {

constexpr Timestamp kWall{1'767'225'600'000};  // 2026-01-01T00:00:00Z

struct Heard {
  std::vector<std::string> audit;
  std::vector<std::string> failed;
  metrics::ServerMetrics recorded;

  Observers observers() {
    return {.audit = [this](std::string line) { audit.push_back(std::move(line)); },
            .failed =
                [this](const FailedRequest& request) {
                  failed.push_back(std::string(request.service) + " " +
                                   std::string(request.action) + " " + request.refusal.code + " " +
                                   std::string(request.request_id));
                },
            .recorded = &recorded};
  }
};

TEST(RequestTelemetry, WritesTheSameLineForEveryApi) {
  Heard heard;
  const RequestTelemetry telemetry(heard.observers(), "s3", {"GetObject", "PutObject"});
  auth::AccessKey key;
  key.id = "AKIA";
  const Caller caller{.account = "000000000000", .region = {}, .sender_id = "me", .key = &key};
  const RequestMark mark{.id = "id-1", .peer = "10.0.0.7", .action = 1};
  telemetry.audit(mark, caller, {.resource = "b/k"}, kWall);
  EXPECT_EQ(heard.audit.at(0),
            R"({"time":"2026-01-01T00:00:00.000Z","who":"me","key":"AKIA",)"
            R"("account":"000000000000","from":"10.0.0.7","service":"s3","action":"PutObject",)"
            R"("resource":"b/k","outcome":"done","requestId":"id-1"})");
  const Refusal refused(409, "Conflict", "a \"b\"");
  telemetry.audit(
      mark, {.sender_id = "me"}, {.refused = &refused, .request_json = R"({"a":1})"}, kWall);
  EXPECT_EQ(heard.audit.at(1),
            R"({"time":"2026-01-01T00:00:00.000Z","who":"me","account":"","from":"10.0.0.7",)"
            R"("service":"s3","action":"PutObject","outcome":"Conflict","error":"a \"b\"",)"
            R"("requestId":"id-1","request":{"a":1}})");
}

// Whatever a client sends, a line stays short, and it stays JSON.
TEST(RequestTelemetry, LinesAreBounded) {
  Heard heard;
  const RequestTelemetry telemetry(heard.observers(), "sqs", {"TagQueue"});
  const std::string text(100'000, 'x');
  std::string accented = "a";  // Two bytes for each character that follows, so that a cut at an
  for (int i = 0; i < 50'000; ++i) accented += "\u00e9";  // even place would split one.
  const std::string request = R"({"Tags":")" + std::string(7'500'000, '"') + R"("})";
  const Refusal refused(403, "AccessDenied", accented);
  telemetry.audit({.id = "1", .peer = "p", .action = 0},
                  {.sender_id = "me"},
                  {.resource = text, .refused = &refused, .request_json = request},
                  kWall);
  const std::string& line = heard.audit.at(0);
  EXPECT_LT(line.size(), 16u << 10);
  EXPECT_TRUE(is_utf8(line));
  EXPECT_NE(line.find(R"("requestBytes":7500011)"), std::string::npos);
  EXPECT_EQ(line.find(R"("request":)"), std::string::npos);
}

TEST(RequestTelemetry, RefusalsOfOneCallerAreLimitedAndDeedsAreNot) {
  Heard heard;
  Observers observers = heard.observers();
  int asked = 0;
  observers.audits_refusal = [&](std::string_view who, std::string_view from) {
    EXPECT_EQ(who, "me");
    EXPECT_EQ(from, "p");
    return ++asked <= 2;
  };
  const RequestTelemetry telemetry(observers, "sqs", {"TagQueue"});
  const Refusal refused(403, "AccessDenied", "");
  for (int i = 0; i < 10; ++i) {
    const RequestMark mark{.id = "1", .peer = "p", .action = 0};
    telemetry.audit(mark, {.sender_id = "me"}, {.refused = &refused}, kWall);
    telemetry.audit(mark, {.sender_id = "me"}, {.resource = "q"}, kWall);
  }
  EXPECT_EQ(heard.audit.size(), 12u);
}

TEST(RequestTelemetry, TellsOperatorsOfOurFaultsAndOfWhoIsNotLetIn) {
  Heard heard;
  const RequestTelemetry telemetry(heard.observers(), "iam", {"GetRole"});
  const RequestMark named{.id = "1", .peer = "p", .action = 0};
  const RequestMark nameless{.id = "2", .peer = "p", .action = telemetry.unknown()};
  telemetry.refused(named, {404, "NoSuchEntity", ""});
  telemetry.refused(named, {500, "ServiceFailure", ""});
  Refusal unsigned_request(403, "Signature", "");
  unsigned_request.unauthenticated = true;
  telemetry.refused(nameless, unsigned_request);
  EXPECT_EQ(heard.failed,
            (std::vector<std::string>{"iam GetRole ServiceFailure 1", "iam  Signature 2"}));
  const metrics::ActionMetrics& api = *heard.recorded.apis.at(0);
  EXPECT_EQ(api.errors(0), 2u);
  EXPECT_EQ(api.errors(1), 1u);
  EXPECT_EQ(api.named_errors(0).size(), 2u);
  EXPECT_EQ(api.name(telemetry.unknown()), "unknown");
}

// Codes are ours, but that is not for the labels to rely on.
TEST(RequestTelemetry, ErrorsHaveABoundedNumberOfNames) {
  Heard heard;
  const RequestTelemetry telemetry(heard.observers(), "s3", {"GetObject"});
  for (int i = 0; i < 1000; ++i) {
    const std::string code = "Made" + std::to_string(i);
    telemetry.refused({.id = "", .peer = "", .action = 0}, {400, code, ""});
  }
  EXPECT_LE(telemetry.actions().named_errors(0).size(), metrics::NamedCounters::kNamesMax + 1);
  EXPECT_EQ(telemetry.actions().errors(0), 1000u);
}

TEST(RequestTelemetry, WithoutObserversNothingHappens) {
  const RequestTelemetry telemetry({}, "s3", {"GetObject"});
  EXPECT_FALSE(telemetry.audits());
  telemetry.audit({.id = "", .peer = "", .action = 0}, {}, {.resource = ""}, kWall);
  telemetry.refused({.id = "", .peer = "", .action = 0}, {500, "", ""});
  EXPECT_NE(new_request_id(), new_request_id());
}

}  // namespace
}  // namespace redrive::front
