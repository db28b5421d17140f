#include "aws/lambda/service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/text.h"
#include "core/journal/journal.h"
#include "functions/packages/package.h"
#include "tests/aws/lambda/fake_invoker.h"
#include "tests/base/eventually.h"
#include "tests/net/http/raw_client.h"

// The Lambda API in one process: requests as bytes, a journal in memory, functions that do not run.

namespace redrive::lambda {
namespace {

namespace fs = std::filesystem;

using http::body_of;
using http::RawClient;
using http::status_of;
using testing::Test;

constexpr Timestamp kStart{1'767'225'600'000};  // 2026-01-01T00:00:00Z
constexpr std::string_view kArn = "arn:aws:lambda:us-east-1:000000000000:function:f";

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

class LambdaTest : public Test {
 protected:
  LambdaTest() {
    std::string pattern = (fs::temp_directory_path() / "lambda-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    EXPECT_TRUE(store_.attach(*journal_).has_value());
    engine_ = std::make_unique<engine::Engine>(
        engine::Engine::Parts{store_, *journal_, clock_, ids_}, engine::Engine::Hooks{});
    code_ = std::make_unique<CodeStore>(
        CodeStore::Options{.root = root_ / "functions", .sync = objects::Sync::no});
    functions_ = std::make_unique<Functions>(
        Functions::Parts{.engine = *engine_, .gate = gate_, .code = *code_, .endpoint_url = [] {
                           return std::string("http://127.0.0.1:9324");
                         }});
    serve();
  }
  ~LambdaTest() override {
    client_.reset();
    service_->stop();
    server_->drain(std::chrono::seconds(5));
    server_.reset();
    fs::remove_all(root_);
  }

  void serve() {
    service_ = std::make_unique<Service>(Parts{
        .engine = *engine_,
        .gate = gate_,
        .functions = *functions_,
        .invoker = invoker_,
        .invoke_async = [this](const functions::FunctionId& function,
                               const runtime::Invocation& event) -> Result<void> {
          events_.push_back(function.arn() + " " + event.payload.text());
          event_id_ = event.request_id;
          return {};
        },
        .changed = [this] { ++changes_; },
        .observers = {.audit = [this](std::string line) { audit_.push_back(std::move(line)); },
                      .failed = {}},
        .directories = true});
    auto started = http::Server::start(
        {}, {.handle = [this](http::Exchange& e) { service_->handle(e); }, .round_ended = {}});
    EXPECT_TRUE(started.has_value());
    server_ = std::move(*started);
    server_->release(UINT64_MAX);
    service_->attach(*server_);
    client_ = std::make_unique<RawClient>(server_->port());
  }

  std::string ask(std::string_view method, std::string_view path, std::string_view body = {},
                  std::string_view headers = {}) {
    EXPECT_TRUE(
        client_->send(fmt::format("{} {} HTTP/1.1\r\nHost: test:1\r\n{}"
                                  "Content-Length: {}\r\n\r\n{}",
                                  method,
                                  path,
                                  headers,
                                  body.size(),
                                  body)));
    return client_->read_response();
  }
  std::string zip(const std::string& text = "a = 1\n") const {
    std::ofstream(root_ / "index.py") << text;
    return base64_encode(*packages::pack(root_ / "index.py"));
  }
  std::string create(std::string_view more = {}) {
    return ask("POST",
               "/2015-03-31/functions",
               fmt::format(R"({{"FunctionName":"f","Runtime":"python3.11","Handler":"index.handler",
                               "Code":{{"ZipFile":"{}"}}{}}})",
                           zip(),
                           more));
  }
  void make_queue(const std::string& name, queue::QueueSettings settings = {}) {
    engine_->turn([&](engine::Turn& turn) {
      turn.commit(queue::QueueCreated{next(turn.state().last_queue()),
                                      queue::NameIndex::none,
                                      {"000000000000", "us-east-1", name},
                                      settings,
                                      {}});
    });
  }

  fs::path root_;
  VirtualClock clock_{kStart};
  front::Gate gate_{{}, clock_};
  SeededIds ids_{1};
  store::Store store_;
  std::unique_ptr<journal::Journal> journal_ = journal::memory_journal({});
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<CodeStore> code_;
  std::unique_ptr<Functions> functions_;
  FakeInvoker invoker_;
  std::vector<std::string> events_;
  std::string event_id_;
  std::vector<std::string> audit_;
  int changes_ = 0;
  std::unique_ptr<Service> service_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<RawClient> client_;
};

TEST_F(LambdaTest, AFunctionIsCreatedAndReturned) {
  const std::string made = create(R"(,"Environment":{"Variables":{"A":"1"}})");
  EXPECT_EQ(status_of(made), 201) << made;
  EXPECT_TRUE(has(made, R"("LastModified":"2026-01-01T00:00:00.000+0000")")) << made;
  EXPECT_TRUE(has(made, R"("State":"Active")"));
  EXPECT_TRUE(has(made, "x-amzn-RequestId: "));
  EXPECT_EQ(changes_, 1);
  const std::string told = ask("GET", "/2015-03-31/functions/f");
  EXPECT_TRUE(has(
      told,
      R"("Code":{"RepositoryType":"S3","Location":"http://test:1/_redrive/v1/functions/f/code"})"))
      << told;
  EXPECT_EQ(base64_encode(body_of(ask("GET", "/_redrive/v1/functions/f/code"))), zip());
}

TEST_F(LambdaTest, HandlersGetTheEndpointOfTheServer) {
  create(R"(,"Environment":{"Variables":{"A":"1"}},"Timeout":7)");
  const auto deployed = functions_->find(std::string(kArn) + ":$LATEST");
  ASSERT_TRUE(deployed.has_value());
  const runtime::FunctionSpec& spec = *(*deployed)->spec;
  EXPECT_EQ(spec.arn, kArn);
  EXPECT_EQ(spec.timeout, std::chrono::seconds(7));
  EXPECT_TRUE(fs::exists(spec.code / "index.py"));
  EXPECT_EQ(spec.environment.at("A"), "1");
  EXPECT_EQ(spec.environment.at("AWS_ENDPOINT_URL"), "http://127.0.0.1:9324");
  EXPECT_EQ(spec.environment.at("AWS_REGION"), "us-east-1");
  // A server without keys believes the account that a key names.
  EXPECT_EQ(spec.environment.at("AWS_ACCESS_KEY_ID"), "000000000000");
}

TEST_F(LambdaTest, AChangeCreatesANewSpec) {
  create();
  const auto before = *functions_->find(std::string(kArn));
  EXPECT_EQ(before, *functions_->find(std::string(kArn))) << "nothing changed";
  EXPECT_EQ(status_of(ask("PUT", "/2015-03-31/functions/f/configuration", R"({"Timeout":9})")),
            200);
  const auto after = *functions_->find(std::string(kArn));
  EXPECT_NE(before->spec->revision, after->spec->revision);
  EXPECT_EQ(after->spec->timeout, std::chrono::seconds(9));
  EXPECT_EQ(invoker_.retired, std::vector{std::string(kArn)});
  EXPECT_EQ(status_of(ask("DELETE", "/2015-03-31/functions/f")), 204);
  EXPECT_FALSE(functions_->find(std::string(kArn)).has_value());
  // The function, and the code that it had, which is kept for trying messages.
  EXPECT_THAT(
      invoker_.forgotten,
      testing::ElementsAre(std::string(kArn), testing::StartsWith(std::string(kArn) + ":@")));
}

TEST_F(LambdaTest, AFailedRequestChangesNothing) {
  EXPECT_EQ(status_of(create(R"(,"Timeout":901)")), 400);
  EXPECT_EQ(status_of(ask("GET", "/2015-03-31/functions/f")), 404);
  create();
  const std::string before = ask("GET", "/2015-03-31/functions/f/configuration");
  EXPECT_EQ(status_of(ask("PUT", "/2015-03-31/functions/f/configuration", R"({"Runtime":"go"})")),
            400);
  EXPECT_EQ(body_of(ask("GET", "/2015-03-31/functions/f/configuration")), body_of(before));
  EXPECT_EQ(changes_, 1);
}

TEST_F(LambdaTest, ErrorsHaveLambdasForm) {
  const std::string missing = ask("GET", "/2015-03-31/functions/g");
  EXPECT_EQ(status_of(missing), 404);
  EXPECT_TRUE(has(missing, "x-amzn-ErrorType: ResourceNotFoundException\r\n")) << missing;
  EXPECT_EQ(body_of(missing),
            R"({"Type":"User","Message":"Function not found: )"
            R"(arn:aws:lambda:us-east-1:000000000000:function:g"})");
  const std::string wrong = create(R"(,"Runtime":"go")");
  EXPECT_TRUE(has(wrong, R"("message":")")) << wrong;
  EXPECT_EQ(status_of(ask("POST", "/2015-03-31/functions", "{")), 400);
  EXPECT_EQ(status_of(ask("GET", "/2015-03-31/functions/f/unheard-of")), 404);
  EXPECT_TRUE(has(ask("GET", "/_redrive/v1/functions/g/logs"), R"({"error":{"code":)"));
}

TEST_F(LambdaTest, UnknownMembersAreRefusedByName) {
  const std::string_view refused[] = {
      R"("DurableConfig":{"RetentionPeriodInDays":1})",
      R"("TenancyConfig":{"TenantIsolationMode":"PER_TENANT"})",
      R"("CapacityProviderConfig":{"LambdaManagedInstancesCapacityProviderConfig":{}})",
      R"("FileSystemConfigs":[{"Arn":"a"}])",
      R"("ImageConfig":{"WorkingDirectory":"/"})",
      R"("CodeSigningConfigArn":"arn:aws:lambda:us-east-1:1:code-signing-config:c")",
      R"("PublishTo":"LATEST_PUBLISHED")",
      R"("Tiemout":3)"};
  for (const std::string_view member : refused) {
    const std::string answer = create("," + std::string(member));
    EXPECT_EQ(status_of(answer), 400) << member;
    EXPECT_TRUE(has(answer, "InvalidParameterValueException")) << answer;
    const std::string name(member.substr(1, member.find('"', 1) - 1));
    EXPECT_TRUE(has(answer, name + " is not supported by this server.")) << answer;
  }
  EXPECT_EQ(status_of(create(R"(,"FileSystemConfigs":[],"ImageConfig":{},"TenancyConfig":null)")),
            201)
      << "what asks for nothing is accepted";
}

TEST_F(LambdaTest, WhatDoesNotChangeBehaviourIsStoredAndReturned) {
  const std::string made =
      create(R"(,"KMSKeyArn":"arn:aws:kms:us-east-1:1:key/k","LoggingConfig":{"LogFormat":"JSON",)"
             R"("ApplicationLogLevel":"WARN","LogGroup":"/mine"},"SnapStart":{"ApplyOn":"None"},)"
             R"("RuntimeVersionConfig":{"RuntimeVersionArn":"arn:r"})");
  EXPECT_EQ(status_of(made), 201) << made;
  const std::string told = ask("GET", "/2015-03-31/functions/f/configuration");
  EXPECT_TRUE(has(told,
                  R"("LoggingConfig":{"LogFormat":"JSON","ApplicationLogLevel":"WARN",)"
                  R"("LogGroup":"/mine"},"KMSKeyArn":"arn:aws:kms:us-east-1:1:key/k",)"
                  R"("RuntimeVersionConfig":{"RuntimeVersionArn":"arn:r"})"))
      << told;
  EXPECT_EQ(status_of(ask("PUT",
                          "/2015-03-31/functions/f/configuration",
                          R"({"LoggingConfig":{"LogFormat":"XML"}})")),
            400);
  EXPECT_EQ(status_of(ask("PUT",
                          "/2015-03-31/functions/f/code",
                          fmt::format(R"({{"ZipFile":"{}","SourceKMSKeyArn":"arn:s"}})", zip()))),
            200);
  EXPECT_TRUE(has(ask("GET", "/2015-03-31/functions/f"), R"("SourceKMSKeyArn":"arn:s")"));
}

TEST_F(LambdaTest, AFunctionLogsTextToItsOwnGroupByDefault) {
  EXPECT_TRUE(has(create(), R"("LoggingConfig":{"LogFormat":"Text","LogGroup":"/aws/lambda/f"})"));
}

TEST_F(LambdaTest, AnInvocationIsAnsweredWhenItEnds) {
  create();
  invoker_.next = {
      .kind = runtime::Outcome::Kind::done, .payload = R"({"a":1})", .log = "a line\n"};
  const std::string done =
      ask("POST", "/2015-03-31/functions/f/invocations", R"({"b":2})", "X-Amz-Log-Type: Tail\r\n");
  EXPECT_EQ(status_of(done), 200);
  EXPECT_EQ(body_of(done), R"({"a":1})");
  EXPECT_TRUE(has(done, "X-Amz-Log-Result: " + base64_encode("a line\n") + "\r\n")) << done;
  EXPECT_EQ(invoker_.invocations.front().payload.text(), R"({"b":2})");
  EXPECT_TRUE(has(done, "x-amzn-RequestId: " + invoker_.invocations.front().request_id));
}

TEST_F(LambdaTest, AFunctionErrorIsNotARequestError) {
  create();
  using Kind = runtime::Outcome::Kind;
  invoker_.next = {.kind = Kind::function_error, .payload = R"({"errorType":"E"})"};
  const std::string failed = ask("POST", "/2015-03-31/functions/f/invocations", "{}");
  EXPECT_EQ(status_of(failed), 200);
  EXPECT_TRUE(has(failed, "X-Amz-Function-Error: Unhandled\r\n")) << failed;
  invoker_.next = {.kind = Kind::throttled};
  const std::string throttled = ask("POST", "/2015-03-31/functions/f/invocations", "{}");
  EXPECT_EQ(status_of(throttled), 429);
  EXPECT_TRUE(has(throttled, R"("Reason":"ReservedFunctionConcurrentInvocationLimitExceeded")"));
  EXPECT_TRUE(has(throttled, "Retry-After: "));
  invoker_.next = {.kind = Kind::service_error, .error_message = "no interpreter"};
  EXPECT_EQ(status_of(ask("POST", "/2015-03-31/functions/f/invocations", "{}")), 500);
}

TEST_F(LambdaTest, EventsArePassedOn) {
  create();
  const std::string accepted = ask("POST",
                                   "/2015-03-31/functions/f/invocations",
                                   R"({"b":2})",
                                   "X-Amz-Invocation-Type: Event\r\n");
  EXPECT_EQ(status_of(accepted), 202);
  EXPECT_TRUE(has(accepted, "x-amzn-RequestId: " + event_id_ + "\r\n")) << accepted;
  EXPECT_EQ(events_, std::vector{std::string(kArn) + R"( {"b":2})"});
  EXPECT_TRUE(invoker_.invocations.empty());
}

TEST_F(LambdaTest, AnAnswerAfterTheStopIsDropped) {
  create();
  invoker_.hold = true;
  RawClient other(server_->port());
  ASSERT_TRUE(
      other.send("POST /2015-03-31/functions/f/invocations HTTP/1.1\r\nHost: t\r\n"
                 "Content-Length: 2\r\n\r\n{}"));
  ASSERT_TRUE(eventually([&] { return invoker_.holds_one(); }));
  service_->stop();
  server_->drain(std::chrono::milliseconds(1));
  server_.reset();
  invoker_.held.front()({.payload = "1"});
  auto started = http::Server::start({}, {.handle = [](http::Exchange&) {}, .round_ended = {}});
  server_ = std::move(*started);  // For the destructor.
}

TEST_F(LambdaTest, LogsAreReturned) {
  create();
  invoker_.lines = {{1, kStart, "r", "one"}, {2, kStart, "r", "two"}};
  EXPECT_EQ(
      body_of(ask("GET", "/_redrive/v1/functions/f/logs?after=1")),
      R"({"lines":[{"number":2,"at":"2026-01-01T00:00:00.000Z","requestId":"r","text":"two"}],"masked":true})");
}

TEST_F(LambdaTest, DirectoriesRunInPlace) {
  const std::string made =
      ask("POST",
          "/2015-03-31/functions",
          fmt::format(R"({{"FunctionName":"f","Runtime":"python3.11","Handler":"i.h",
                      "Code":{{"Directory":"{}"}}}})",
                      root_.string()));
  EXPECT_EQ(status_of(made), 201) << made;
  EXPECT_EQ((*functions_->find(std::string(kArn)))->spec->code, root_);
  EXPECT_EQ(status_of(ask("PUT", "/2015-03-31/functions/f/code", R"({"Directory":"relative"})")),
            400);
  EXPECT_EQ(
      status_of(
          ask("PUT", "/2015-03-31/functions/f/code", fmt::format(R"({{"ZipFile":"{}"}})", zip()))),
      200);
  EXPECT_NE((*functions_->find(std::string(kArn)))->spec->code, root_);
}

TEST_F(LambdaTest, MappingsFollowTheirRules) {
  create();
  make_queue("orders");
  const std::string body =
      R"({"EventSourceArn":"arn:aws:sqs:us-east-1:000000000000:orders","FunctionName":"f"})";
  const std::string made = ask("POST", "/2015-03-31/event-source-mappings/", body);
  EXPECT_EQ(status_of(made), 202) << made;
  EXPECT_TRUE(has(made, R"("State":"Creating","StateTransitionReason":"USER_INITIATED")")) << made;
  EXPECT_TRUE(has(made, R"("FunctionResponseTypes":[])"));
  EXPECT_TRUE(has(made, R"("LastModified":1767225600)")) << made;
  EXPECT_EQ(status_of(ask("POST", "/2015-03-31/event-source-mappings", body)), 409);
  const auto pollers = [&](std::string_view config) {
    std::string with = body;
    with.insert(with.size() - 1, fmt::format(R"(,"ProvisionedPollerConfig":{{{}}})", config));
    return ask("POST", "/2015-03-31/event-source-mappings", with);
  };
  EXPECT_EQ(status_of(pollers(R"("MaximumPollers":10000)")), 409) << "valid, and mapped already";
  EXPECT_EQ(status_of(pollers(R"("MaximumPollers":10001)")), 400);
  EXPECT_TRUE(has(pollers(R"("PollerGroupName":"g")"), "PollerGroupName is not supported"));
  EXPECT_EQ(changes_, 2);
}

TEST_F(LambdaTest, TheAuditLogHasActionsWithoutContents) {
  create(R"(,"Environment":{"Variables":{"PASSWORD":"hunter2"}})");
  ask("GET", "/2015-03-31/functions/f");
  ask("DELETE", "/2015-03-31/functions/g");
  ASSERT_EQ(audit_.size(), 2u);
  EXPECT_TRUE(has(audit_[0], R"("service":"lambda","action":"CreateFunction")")) << audit_[0];
  EXPECT_FALSE(has(audit_[0], "hunter2"));
  EXPECT_TRUE(has(audit_[1], R"("outcome":"ResourceNotFoundException")")) << audit_[1];
}

TEST_F(LambdaTest, AServerWithKeysGivesEachFunctionAKey) {
  create();
  auto ring = auth::KeyRing::make({{.id = "A", .secret = "s", .account = "000000000000"}});
  gate_.use(*std::move(ring));
  EXPECT_EQ(status_of(ask("GET", "/2015-03-31/functions/f")), 403);
  Functions fresh({.engine = *engine_, .gate = gate_, .code = *code_, .endpoint_url = [] {
                     return std::string("http://127.0.0.1:9324");
                   }});
  const auto environment = (*fresh.find(std::string(kArn)))->spec->environment;
  EXPECT_TRUE(environment.at("AWS_ACCESS_KEY_ID").starts_with("AKIA"));
  EXPECT_EQ(environment.at("AWS_SECRET_ACCESS_KEY").size(), 40u);
  EXPECT_EQ((*fresh.find(std::string(kArn)))->spec->environment, environment);
}

TEST(FunctionStatements, ConsumeFromSourcesAndDoWhatTheRoleSays) {
  const std::string source = "arn:aws:sqs:us-east-1:000000000000:source";
  const std::string other = "arn:aws:sqs:us-east-1:000000000000:other";
  const auto verdict = [&](const auth::AccessKey& key,
                           std::string_view action,
                           const std::string& arn) { return key.statements_on(action, arn); };
  using enum auth::StatementVerdict;
  const auth::AccessKey plain{.statements = function_statements({source}, std::nullopt)};
  for (const char* action : {"sqs:ReceiveMessage",
                             "sqs:DeleteMessage",
                             "sqs:ChangeMessageVisibility",
                             "sqs:GetQueueAttributes",
                             "sqs:GetQueueUrl"}) {
    EXPECT_EQ(verdict(plain, action, source), allow) << action;
    EXPECT_EQ(verdict(plain, action, other), silent) << action;
  }
  for (const char* action : {"sqs:SendMessage", "sqs:PurgeQueue", "sqs:SetQueueAttributes"}) {
    EXPECT_EQ(verdict(plain, action, source), silent) << action;
  }
  using Effect = auth::Statement::Effect;
  const std::vector<auth::Statement> role = {
      {.effect = Effect::allow, .actions = {"sqs:SendMessage"}, .resources = {other}},
      {.effect = Effect::deny, .actions = {"sqs:DeleteMessage"}, .resources = {"*"}}};
  const auth::AccessKey more{.statements = function_statements({source}, role)};
  EXPECT_EQ(verdict(more, "sqs:SendMessage", other), allow);
  EXPECT_EQ(verdict(more, "sqs:ReceiveMessage", source), allow);
  EXPECT_EQ(verdict(more, "sqs:DeleteMessage", source), deny);
  EXPECT_TRUE(function_statements({}, std::nullopt).empty());
}

}  // namespace
}  // namespace redrive::lambda
