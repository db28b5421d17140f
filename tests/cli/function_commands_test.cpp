#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/apply/directory_watch.h"
#include "tests/cli/fake_world.h"

// Requests of `redrive function`, `mapping` and `dlq try` to a server, and their output.

namespace redrive::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUuid = "e40d8c46-7a22-434c-aa0c-ea0486e4275d";
const std::string kMapping = fmt::format(
    R"({{"UUID":"{}","EventSourceArn":"arn:aws:sqs:us-east-1:000000000000:orders",
        "FunctionArn":"arn:aws:lambda:us-east-1:000000000000:function:worker","BatchSize":10,
        "MaximumBatchingWindowInSeconds":0,"State":"Enabled"}})",
    kUuid);

class FunctionCommands : public testing::Test {
 protected:
  FunctionCommands() {
    std::string pattern = (fs::temp_directory_path() / "deploy-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
  }
  ~FunctionCommands() override { fs::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
  }
  void list_mappings(const std::string& mappings) {
    world_.server.answer("GET /2015-03-31/event-source-mappings?Marker=",
                         fmt::format(R"({{"EventSourceMappings":[{}]}})", mappings));
  }

  fs::path directory_;
  FakeWorld world_;
};

TEST_F(FunctionCommands, DeployMakesWhatIsNotThere) {
  write("index.py", "def handler(event, context): pass\n");
  world_.server.handle("GET /2015-03-31/functions/worker/configuration",
                       [](const std::string&) -> Result<http::ClientResponse> {
                         return http::ClientResponse{
                             .status = 404,
                             .headers = {{"x-amzn-ErrorType", "ResourceNotFoundException"}},
                             .body = R"({"Type":"User","Message":"Function not found"})"};
                       });
  world_.server.answer("POST /2015-03-31/functions",
                       R"({"FunctionName":"worker","FunctionArn":"a","Description":""})",
                       201);
  const Outcome done = world_.run({"function", "deploy", directory_, "--name", "worker"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  ASSERT_EQ(world_.server.bodies("POST /2015-03-31/functions").size(), 1u);
  EXPECT_TRUE(world_.server.bodies("POST /2015-03-31/functions")
                  .front()
                  .starts_with(R"({"FunctionName":"worker","Code":{"ZipFile":"UEs)"));
}

TEST_F(FunctionCommands, AnotherServersNotFoundIsNoMissingFunction) {
  write("index.py", "def handler(event, context): pass\n");
  world_.server.answer("GET /2015-03-31/functions/worker/configuration", "<html/>", 404);
  EXPECT_EQ(world_.run({"function", "deploy", directory_, "--name", "worker"}).exit_code, 1);
  EXPECT_TRUE(world_.server.bodies("POST /2015-03-31/functions").empty());
}

TEST_F(FunctionCommands, DeployReplacesWhatIsThere) {
  write("index.py", "def handler(event, context): pass\n");
  const std::string told = R"({"FunctionName":"worker","FunctionArn":"a","Description":"",
                               "Runtime":"python3.11","Handler":"index.handler","CodeSize":7})";
  world_.server.answer("GET /2015-03-31/functions/worker/configuration", told);
  world_.server.answer("PUT /2015-03-31/functions/worker/configuration", told);
  world_.server.answer("PUT /2015-03-31/functions/worker/code", told);
  const Outcome done = world_.run(
      {"function", "deploy", directory_, "--name", "worker", "--env", "A=1", "--timeout", "5"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.out, "deployed worker (python3.11 index.handler, 7 bytes)\n");
  const auto settings = world_.server.bodies("PUT /2015-03-31/functions/worker/configuration");
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_EQ(settings.front(),
            R"({"Runtime":"python3.11","Handler":"index.handler","Timeout":5,)"
            R"("Environment":{"Variables":{"A":"1"}}})");
  EXPECT_EQ(world_.server.bodies("PUT /2015-03-31/functions/worker/code").size(), 1u);
}

TEST_F(FunctionCommands, DeployWantsAName) {
  EXPECT_EQ(world_.run({"function", "deploy", "http://127.0.0.1:1/"}).exit_code, 2);
  EXPECT_EQ(world_.run({"function", "deploy", "--command", "cat"}).exit_code, 2);
  EXPECT_TRUE(world_.server.calls.empty());
}

TEST_F(FunctionCommands, AFailedRunEndsWithOne) {
  world_.server.handle(
      "POST /2015-03-31/functions/worker/invocations",
      [](const std::string&) -> Result<http::ClientResponse> {
        return http::ClientResponse{
            .status = 200,
            .headers = {{"X-Amz-Function-Error", "Unhandled"}, {"X-Amz-Log-Result", "bGluZQo="}},
            .body = R"({"errorType":"E"})"};
      });
  const Outcome failed = world_.run({"function", "invoke", "worker", "{}", "--json"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.out, "{\"errorType\":\"E\"}\n");
  EXPECT_EQ(failed.err, "line\n");
}

// A function's response is untrusted text: exact in a pipe, escaped on a terminal.
TEST_F(FunctionCommands, APayloadDoesNotDriveTheTerminal) {
  const std::string payload = "\"a\u009b2J\u202E\"";
  world_.server.handle("POST /2015-03-31/functions/worker/invocations",
                       [&](const std::string&) -> Result<http::ClientResponse> {
                         return http::ClientResponse{.status = 200, .headers = {}, .body = payload};
                       });
  EXPECT_EQ(world_.run({"function", "invoke", "worker", "{}"}).out, payload + "\n");
  world_.world.terminal.out_is_terminal = true;
  EXPECT_EQ(world_.run({"function", "invoke", "worker", "{}"}).out, "\"a\\x9b2J\\u202e\"\n");
}

TEST_F(FunctionCommands, AMappingIsCalledByItsQueueOrFunction) {
  list_mappings(kMapping);
  const std::string path = fmt::format("PUT /2015-03-31/event-source-mappings/{}", kUuid);
  world_.server.answer(path, kMapping, 202);
  for (const char* called : {"orders", "worker", kUuid}) {
    const Outcome done = world_.run({"mapping", "pause", called});
    EXPECT_EQ(done.exit_code, 0) << done.err;
  }
  EXPECT_EQ(world_.server.bodies(path), (std::vector<std::string>(3, R"({"Enabled":false})")));
  EXPECT_EQ(world_.run({"mapping", "pause", "other"}).exit_code, 1);
}

TEST_F(FunctionCommands, DoubtIsNotDecided) {
  list_mappings(kMapping + "," + kMapping);
  const Outcome doubt = world_.run({"mapping", "show", "orders"});
  EXPECT_EQ(doubt.exit_code, 1);
  EXPECT_NE(doubt.err.find("2 mappings"), std::string::npos) << doubt.err;
}

TEST_F(FunctionCommands, AMappingIsChangedByWhatIsNamed) {
  const std::string path = fmt::format("PUT /2015-03-31/event-source-mappings/{}", kUuid);
  world_.server.answer(path, kMapping, 202);
  const Outcome done = world_.run({"mapping",
                                   "set",
                                   kUuid,
                                   "--filter",
                                   "off",
                                   "--concurrency",
                                   "0",
                                   "--item-failures",
                                   "off",
                                   "--on-failure",
                                   "arn:aws:s3:::b",
                                   "--max-retries",
                                   "-1",
                                   "--retry-policy",
                                   "[]"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(world_.server.bodies(path).front(),
            R"({"MaximumRetryAttempts":-1,"ScalingConfig":{},"FunctionResponseTypes":[],)"
            R"("FilterCriteria":{},"DestinationConfig":{"OnSuccess":{},)"
            R"("OnFailure":{"Destination":"arn:aws:s3:::b"}},"RetryPolicy":[]})");
}

TEST_F(FunctionCommands, AWatchSeesWhatChanges) {
  auto watch = DirectoryWatch::open(directory_);
  ASSERT_TRUE(watch.has_value());
  EXPECT_FALSE(watch->wait(Duration(0)));
  write("a.py", "1");
  EXPECT_TRUE(watch->wait(Duration(5000)));
  EXPECT_FALSE(watch->wait(Duration(0)));
  fs::create_directories(directory_ / "lib");
  EXPECT_TRUE(watch->wait(Duration(5000)));
  write("lib/b.py", "2");
  EXPECT_TRUE(watch->wait(Duration(5000))) << "new directories are watched, too";
}

}  // namespace
}  // namespace redrive::cli
