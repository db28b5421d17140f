#include "front/pipeline.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "front/action_table.h"
#include "net/wire/shape.h"
#include "tests/front/fake_exchange.h"

// The pipeline with an API of two actions, and the table of a service that speaks both protocols.

namespace redrive::front {
namespace {

constexpr std::string_view kScopes[] = {"test"};

struct Observed {
  std::vector<std::string> audit;
  std::vector<std::string> failed;

  Observers observers() {
    return {.audit = [this](std::string line) { audit.push_back(std::move(line)); },
            .failed =
                [this](const FailedRequest& request) {
                  failed.push_back(std::string(request.action) + " " + request.refusal.code);
                }};
  }
};

http::Answer encode(const RequestContext&, const Refusal& refusal) {
  return {.status = refusal.status,
          .content_type = "text/plain",
          .headers = refusal.headers,
          .body = refusal.code + ": " + refusal.message};
}

// The body names the action: `ok`, `later`, or anything else.
class FakeApi final : public Api {
 public:
  Pace pace(const http::Request&) const override { return Pace::quick; }
  Outcome<void> route(RequestContext& context) const override {
    if (context.request.body == "nowhere") return refuse(404, "NotFound", "nothing there");
    context.action = context.request.body == "later" ? 1 : 0;
    return {};
  }
  Outcome<http::Answer> run(RequestContext& context, const Respond& respond) const override {
    context.audit = {.resource = std::string(context.request.body)};
    if (context.request.body == "error") return fail(ErrorCode::over_limit, "too much");
    if (context.request.body == "later") {
      context.later = true;
      respond_later = respond;
    }
    return http::Answer{.content_type = "text/plain", .body = "done"};
  }
  mutable Respond respond_later;
};

class PipelineTest : public testing::Test {
 protected:
  Pipeline pipeline(bool routes_first = false, Offload offload = {}) {
    return Pipeline(api_,
                    {.name = "test",
                     .scope = {.scopes = kScopes},
                     .actions = {"Do", "DoLater"},
                     .refusal_of =
                         [](const Error& error) {
                           return Refusal(
                               error.code == ErrorCode::missing_authentication_token ? 403 : 429,
                               "FromTable",
                               error.message);
                         },
                     .encode = encode,
                     .headers = {{"Cache-Control", "no-store"}},
                     .routes_first = routes_first},
                    {.gate = gate_,
                     .observers = observed_.observers(),
                     .offload = std::move(offload),
                     .recorded = [] { return http::SyncPoint{17}; }});
  }

  Observed observed_;
  FakeApi api_;
  VirtualClock clock_{Timestamp(1'767'225'600'000)};
  Gate gate_{{}, clock_};
};

TEST_F(PipelineTest, AnswersWithAnIdAndTheHeadersOfTheApi) {
  const FakeReply reply = post(pipeline(), {}, "ok");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "done");
  EXPECT_NE(reply.head.find("\r\nx-amzn-RequestId: "), reply.head.npos);
  EXPECT_NE(reply.head.find("\r\nCache-Control: no-store"), reply.head.npos);
}

TEST_F(PipelineTest, AnswersWaitForWhatIsRecorded) {
  http::Request request;
  request.body = "ok";
  FakeExchange exchange(std::move(request));
  pipeline().handle(exchange);
  EXPECT_EQ(exchange.replied_after, 17u);
}

TEST_F(PipelineTest, ErrorsAreLookedUpInTheTableOfTheApi) {
  const FakeReply reply = post(pipeline(), {}, "error");
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.body, "FromTable: too much");
  ASSERT_EQ(observed_.audit.size(), 1u);
  EXPECT_NE(observed_.audit[0].find(R"("resource":"error","outcome":"FromTable")"),
            std::string::npos)
      << observed_.audit[0];
}

TEST_F(PipelineTest, WhetherAnAddressExistsIsToldBeforeOrAfterTheSignatureIsChecked) {
  auth::AccessKey key;
  key.id = "K";
  key.secret = "S";
  key.account = "000000000000";
  gate_.use(*auth::KeyRing::make({key}));
  EXPECT_EQ(post(pipeline(true), {}, "nowhere").status, 404);
  EXPECT_EQ(post(pipeline(false), {}, "nowhere").status, 403);
  EXPECT_EQ(observed_.failed, std::vector<std::string>{" FromTable"});
  EXPECT_TRUE(observed_.audit.empty());  // Nobody is known to have asked.
}

TEST_F(PipelineTest, AnAnswerMayComeLater) {
  const Pipeline pipeline = this->pipeline();
  http::Request request;
  request.body = "later";
  FakeExchange exchange(std::move(request));
  pipeline.handle(exchange);
  EXPECT_EQ(exchange.out(), "");
  api_.respond_later(http::Answer{.content_type = "text/plain", .body = "at last"});
  EXPECT_EQ(reply_of(exchange.out()).body, "at last");
}

TEST_F(PipelineTest, AFullPoolIsTold) {
  const FakeReply reply =
      post(pipeline(false, [](http::Exchange&, auto, const auto&) { return false; }), {}, "ok");
  EXPECT_EQ(reply.body, "FromTable: The server is busy. Please try again.");
}

// --- Tables ---

struct EchoInput {
  std::string_view text;
};
consteval auto shape_of(EchoInput*) {
  return wire::shape(wire::required("Text", &EchoInput::text).filled());
}
struct EchoOutput {
  std::string_view text;
};
consteval auto shape_of(EchoOutput*) {
  return wire::shape(wire::required("Text", &EchoOutput::text));
}

struct EchoCall : ActionCall {};

Outcome<EchoOutput> echo(EchoCall& call, const EchoInput& input) {
  if (input.text == "refused") return refuse(409, "Refused", "not <that>");
  return EchoOutput{call.keep(call.permission + " " + std::string(input.text))};
}
Outcome<void> swallow(EchoCall&, const EchoInput&) {
  return {};
}

constexpr Action<EchoCall> kActions[] = {
    action<echo>("Echo", auth::Right::look),
    action<swallow>("Swallow", std::nullopt),
};

const TableTraits kTraits{.name = "echo",
                          .scope = {.scopes = kScopes},
                          .refusal_of = json_refusal_of,
                          .target_prefix = "Echo_1.",
                          .xml_namespace = "urn:echo"};

class TableTest : public testing::Test {
 protected:
  FakeReply query(std::string_view form) {
    return post(api_, {{"Content-Type", "application/x-www-form-urlencoded"}}, form);
  }
  FakeReply json(std::string_view target, std::string_view body) {
    return post(api_, {{"X-Amz-Target", target}}, body);
  }
  static std::string without_id(std::string body) {
    const std::size_t begin = body.find("<RequestId>") + 11;
    return body.replace(begin, body.find('<', begin) - begin, "ID");
  }

  VirtualClock clock_{Timestamp(1'767'225'600'000)};
  Gate gate_{{}, clock_};
  TableApi<EchoCall> api_{
      kTraits, kActions, [](ActionCall call) { return EchoCall{std::move(call)}; }, {gate_}};
};

TEST_F(TableTest, OneFunctionServesBothProtocols) {
  EXPECT_EQ(json("Echo_1.Echo", R"({"Text":"a"})").body, R"({"Text":"echo:Echo a"})");
  EXPECT_EQ(json("Echo_1.Echo", R"({"Text":"a"})").type, "application/x-amz-json-1.1");
  const FakeReply reply = query("Action=Echo&Text=a%26b");
  EXPECT_EQ(reply.type, "text/xml");
  EXPECT_EQ(without_id(reply.body),
            R"(<EchoResponse xmlns="urn:echo"><EchoResult><Text>echo:Echo a&amp;b</Text>)"
            R"(</EchoResult><ResponseMetadata><RequestId>ID</RequestId></ResponseMetadata>)"
            R"(</EchoResponse>)");
}

TEST_F(TableTest, AnActionWithoutOutputHasNoResult) {
  EXPECT_EQ(json("Echo_1.Swallow", R"({"Text":"a"})").body, "{}");
  EXPECT_EQ(without_id(query("Action=Swallow&Text=a").body),
            R"(<SwallowResponse xmlns="urn:echo"><ResponseMetadata><RequestId>ID</RequestId>)"
            R"(</ResponseMetadata></SwallowResponse>)");
}

TEST_F(TableTest, RefusalsTravelInTheProtocolOfTheRequest) {
  const FakeReply in_json = json("Echo_1.Echo", R"({"Text":"refused"})");
  EXPECT_EQ(in_json.status, 409);
  EXPECT_EQ(in_json.body, R"({"__type":"Refused","message":"not <that>"})");
  const FakeReply in_xml = query("Action=Echo&Text=refused");
  EXPECT_EQ(in_xml.status, 409);
  EXPECT_EQ(
      without_id(in_xml.body),
      R"(<ErrorResponse xmlns="urn:echo"><Error><Type>Sender</Type><Code>Refused</Code>)"
      R"(<Message>not &lt;that&gt;</Message></Error><RequestId>ID</RequestId></ErrorResponse>)");
  EXPECT_TRUE(query("Text=a").has("<Code>MissingAction</Code>"));
  EXPECT_TRUE(query("Action=Nope").has("<Code>UnknownOperationException</Code>"));
  EXPECT_TRUE(json("Echo_1.Echo", "{}").has("ValidationException"));
  EXPECT_TRUE(json("Echo_1.Echo", R"({"Text":"a","More":1})").has("More is not supported"));
}

}  // namespace
}  // namespace redrive::front
