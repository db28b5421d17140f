#include "api/witness.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace redrive::api {
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
                                   std::string(request.action) + " " + std::string(request.code) +
                                   " " + std::string(request.request_id));
                },
            .recorded = &recorded};
  }
};

TEST(Witness, WritesTheSameLineForEveryApi) {
  Heard heard;
  const Witness witness(heard.observers(), "s3", {"GetObject", "PutObject"});
  auth::AccessKey key;
  key.id = "AKIA";
  const Caller caller{.account = "000000000000", .region = {}, .sender_id = "me", .key = &key};
  const RequestMark mark{.id = "id-1", .peer = "10.0.0.7", .action = 1};
  witness.write_down(mark, caller, {.resource = "b/k"}, kWall);
  EXPECT_EQ(heard.audit.at(0),
            R"({"time":"2026-01-01T00:00:00.000Z","who":"me","key":"AKIA",)"
            R"("account":"000000000000","from":"10.0.0.7","service":"s3","action":"PutObject",)"
            R"("resource":"b/k","outcome":"done","requestId":"id-1"})");
  const Refused refused{.status = 409, .code = "Conflict", .message = "a \"b\""};
  witness.write_down(
      mark, {.sender_id = "me"}, {.refused = &refused, .request_json = R"({"a":1})"}, kWall);
  EXPECT_EQ(heard.audit.at(1),
            R"({"time":"2026-01-01T00:00:00.000Z","who":"me","account":"","from":"10.0.0.7",)"
            R"("service":"s3","action":"PutObject","outcome":"Conflict","error":"a \"b\"",)"
            R"("requestId":"id-1","request":{"a":1}})");
}

// Whatever a client sends, a line stays short, and it stays JSON.
TEST(Witness, LinesAreBounded) {
  Heard heard;
  const Witness witness(heard.observers(), "sqs", {"TagQueue"});
  const std::string text(100'000, 'x');
  std::string accented = "a";  // Two bytes for each character that follows, so that a cut at an
  for (int i = 0; i < 50'000; ++i) accented += "\u00e9";  // even place would split one.
  const std::string request = R"({"Tags":")" + std::string(7'500'000, '"') + R"("})";
  const Refused refused{.status = 403, .code = "AccessDenied", .message = accented};
  witness.write_down({.id = "1", .peer = "p", .action = 0},
                     {.sender_id = "me"},
                     {.resource = text, .refused = &refused, .request_json = request},
                     kWall);
  const std::string& line = heard.audit.at(0);
  EXPECT_LT(line.size(), 16u << 10);
  EXPECT_TRUE(is_utf8(line));
  EXPECT_NE(line.find(R"("requestBytes":7500011)"), std::string::npos);
  EXPECT_EQ(line.find(R"("request":)"), std::string::npos);
}

TEST(Witness, RefusalsOfOneCallerAreLimitedAndDeedsAreNot) {
  Heard heard;
  Observers observers = heard.observers();
  int asked = 0;
  observers.audits_refusal = [&](std::string_view who, std::string_view from) {
    EXPECT_EQ(who, "me");
    EXPECT_EQ(from, "p");
    return ++asked <= 2;
  };
  const Witness witness(observers, "sqs", {"TagQueue"});
  const Refused refused{.status = 403, .code = "AccessDenied", .message = ""};
  for (int i = 0; i < 10; ++i) {
    const RequestMark mark{.id = "1", .peer = "p", .action = 0};
    witness.write_down(mark, {.sender_id = "me"}, {.refused = &refused}, kWall);
    witness.write_down(mark, {.sender_id = "me"}, {.resource = "q"}, kWall);
  }
  EXPECT_EQ(heard.audit.size(), 12u);
}

TEST(Witness, TellsOperatorsOfOurFaultsAndOfWhoIsNotLetIn) {
  Heard heard;
  const Witness witness(heard.observers(), "iam", {"GetRole"});
  const RequestMark named{.id = "1", .peer = "p", .action = 0};
  const RequestMark nameless{.id = "2", .peer = "p", .action = witness.unknown()};
  witness.refused(named, {.status = 404, .code = "NoSuchEntity", .message = ""});
  witness.refused(named, {.status = 500, .code = "ServiceFailure", .message = ""});
  witness.refused(nameless, {.status = 403, .code = "Signature", .message = "", .unproven = true});
  EXPECT_EQ(heard.failed,
            (std::vector<std::string>{"iam GetRole ServiceFailure 1", "iam  Signature 2"}));
  const metrics::ActionMetrics& api = *heard.recorded.apis.at(0);
  EXPECT_EQ(api.errors(0), 2u);
  EXPECT_EQ(api.errors(1), 1u);
  EXPECT_EQ(api.named_errors(0).size(), 2u);
  EXPECT_EQ(api.name(witness.unknown()), "unknown");
}

// Codes are ours, but that is not for the labels to rely on.
TEST(Witness, ErrorsHaveABoundedNumberOfNames) {
  Heard heard;
  const Witness witness(heard.observers(), "s3", {"GetObject"});
  for (int i = 0; i < 1000; ++i) {
    const std::string code = "Made" + std::to_string(i);
    witness.refused({.id = "", .peer = "", .action = 0},
                    {.status = 400, .code = code, .message = ""});
  }
  EXPECT_LE(witness.actions().named_errors(0).size(), metrics::NamedCounters::kNamesMax + 1);
  EXPECT_EQ(witness.actions().errors(0), 1000u);
}

TEST(Witness, WithoutObserversNothingHappens) {
  const Witness witness({}, "s3", {"GetObject"});
  EXPECT_FALSE(witness.writes_down());
  witness.write_down({.id = "", .peer = "", .action = 0}, {}, {.resource = ""}, kWall);
  witness.refused({.id = "", .peer = "", .action = 0}, {.status = 500, .code = "", .message = ""});
  EXPECT_NE(new_request_id(), new_request_id());
}

}  // namespace
}  // namespace redrive::api
