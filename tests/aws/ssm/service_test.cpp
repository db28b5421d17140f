#include "aws/ssm/service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/core/engine/engine_world.h"
#include "tests/front/fake_exchange.h"

namespace redrive::ssm {
namespace {

constexpr Timestamp kStart{1'767'225'600'000};  // 2026-01-01T00:00:00Z

class SsmTest : public testing::Test {
 protected:
  SsmTest() { open(); }

  void open(front::Observers observers = {}, front::Offload offload = {}) {
    service_.emplace(Parts{.engine = world_.engine(), .sealer = sealer_},
                     gate_,
                     std::move(observers),
                     std::move(offload));
  }
  front::FakeReply ask(std::string_view action, std::string_view body) {
    const std::string target = "AmazonSSM." + std::string(action);
    return front::post(*service_,
                       {{"Content-Type", "application/x-amz-json-1.1"}, {"X-Amz-Target", target}},
                       body);
  }
  void put(std::string_view name, std::string_view value, std::string_view type = "String") {
    const auto reply =
        ask("PutParameter",
            fmt::format(R"({{"Name":"{}","Value":"{}","Type":"{}"}})", name, value, type));
    EXPECT_EQ(reply.status, 200) << reply.body;
  }
  // The catalogue's document of a parameter of the default account.
  std::string stored(const std::string& name) {
    return world_.engine().turn([&](engine::Turn& turn) {
      const auto* const found =
          turn.state().find_entry(queue::EntryKind::parameter, "000000000000/us-east-1/" + name);
      return found == nullptr ? std::string() : *found;
    });
  }
  static std::string error(std::string_view type, std::string_view message) {
    return fmt::format(R"({{"__type":"{}","message":"{}"}})", type, message);
  }

  engine::WorldOf<ManualClock> world_;
  VirtualClock wall_{kStart};
  front::Gate gate_{{}, wall_};
  Sealer sealer_{{}};
  std::optional<Service> service_;
};

TEST_F(SsmTest, AParameterComesAndGoes) {
  const auto put =
      ask("PutParameter", R"({"Name":"/app/db","Value":"h1","Type":"String","Description":"d"})");
  EXPECT_EQ(put.body, R"({"Version":1,"Tier":"Standard"})");
  EXPECT_EQ(put.type, "application/x-amz-json-1.1");
  const auto got = ask("GetParameter", R"({"Name":"/app/db"})");
  EXPECT_TRUE(
      got.has(R"({"Parameter":{"Name":"/app/db","Type":"String","Value":"h1","Version":1,)"))
      << got.body;
  EXPECT_TRUE(got.has(R"("ARN":"arn:aws:ssm:us-east-1:000000000000:parameter/app/db")"));
  EXPECT_TRUE(got.has(R"("DataType":"text")"));
  EXPECT_EQ(ask("DeleteParameter", R"({"Name":"/app/db"})").body, "{}");
  const auto gone = ask("GetParameter", R"({"Name":"/app/db"})");
  EXPECT_EQ(gone.status, 400);
  EXPECT_EQ(gone.body, error("ParameterNotFound", "Parameter /app/db not found."));
  EXPECT_TRUE(ask("DeleteParameter", R"({"Name":"/app/db"})").has("ParameterNotFound"));
}

TEST_F(SsmTest, OverwritingIsAskedForAndCounts) {
  put("p", "1");
  EXPECT_TRUE(ask("PutParameter", R"({"Name":"p","Value":"2","Type":"String"})")
                  .has(R"("__type":"ParameterAlreadyExists")"));
  EXPECT_EQ(ask("PutParameter", R"({"Name":"p","Value":"2","Overwrite":true})").body,
            R"({"Version":2,"Tier":"Standard"})");
  EXPECT_TRUE(ask("GetParameter", R"({"Name":"p"})").has(R"("Value":"2","Version":2)"));
  EXPECT_TRUE(
      ask("PutParameter", R"({"Name":"p","Value":"3","Type":"SecureString","Overwrite":true})")
          .has("HierarchyTypeMismatchException"));
  EXPECT_TRUE(ask("PutParameter", R"({"Name":"new","Value":"3","Overwrite":true})")
                  .has("ValidationException"));
}

TEST_F(SsmTest, AVersionIsFoundWhileItIsTheNewest) {
  put("p", "1");
  EXPECT_TRUE(ask("GetParameter", R"({"Name":"p:1"})").has(R"("Selector":":1")"));
  EXPECT_TRUE(ask("GetParameter", R"({"Name":"p:2"})").has("ParameterVersionNotFound"));
  EXPECT_TRUE(ask("GetParameter", R"({"Name":"p:label"})").has("ParameterVersionNotFound"));
}

TEST_F(SsmTest, SecureStringsAreSealedAtRestAndInAnswers) {
  put("/app/key", "hunter2", "SecureString");
  EXPECT_NE(stored("/app/key"), "");
  EXPECT_EQ(stored("/app/key").find("hunter2"), std::string::npos);
  EXPECT_FALSE(ask("GetParameter", R"({"Name":"/app/key"})").has("hunter2"));
  EXPECT_TRUE(ask("GetParameter", R"({"Name":"/app/key","WithDecryption":true})")
                  .has(R"("Value":"hunter2")"));
  Sealer another({});
  service_.emplace(Parts{.engine = world_.engine(), .sealer = another}, gate_);
  EXPECT_TRUE(
      ask("GetParameter", R"({"Name":"/app/key","WithDecryption":true})").has("InvalidKeyId"));
}

TEST_F(SsmTest, SeveralAtOnce) {
  put("a", "1");
  put("b", "2", "StringList");
  const auto got = ask("GetParameters", R"({"Names":["b","none","a"]})");
  EXPECT_LT(got.body.find(R"("Name":"b","Type":"StringList")"), got.body.find(R"("Name":"a")"));
  EXPECT_TRUE(got.has(R"("InvalidParameters":["none"])")) << got.body;
  EXPECT_EQ(ask("DeleteParameters", R"({"Names":["a","none"]})").body,
            R"({"DeletedParameters":["a"],"InvalidParameters":["none"]})");
  EXPECT_EQ(ask("GetParameters", R"({"Names":["a"]})").body,
            R"({"Parameters":[],"InvalidParameters":["a"]})");
  EXPECT_TRUE(ask("GetParameters", R"({"Names":["1","2","3","4","5","6","7","8","9","10","11"]})")
                  .has("ValidationException"));
}

TEST_F(SsmTest, PathsAreLevels) {
  for (const char* name : {"/app/a", "/app/b/c", "/apple/d", "root"}) put(name, "x");
  const auto flat = ask("GetParametersByPath", R"({"Path":"/app"})");
  EXPECT_TRUE(flat.has("/app/a"));
  EXPECT_FALSE(flat.has("/app/b/c"));
  EXPECT_FALSE(flat.has("/apple/d"));
  EXPECT_TRUE(ask("GetParametersByPath", R"({"Path":"/app/","Recursive":true})").has("/app/b/c"));
  const auto root = ask("GetParametersByPath", R"({"Path":"/"})");
  EXPECT_TRUE(root.has(R"("Name":"root")"));
  EXPECT_FALSE(root.has("/app/a"));
  EXPECT_TRUE(ask("GetParametersByPath", R"({"Path":"app"})").has("ValidationException"));
}

// Also across the pages of a walk that takes several turns.
TEST_F(SsmTest, PagesShowEachParameterOnce) {
  constexpr int kCount = 700;
  for (int i = 0; i < kCount; ++i) put(fmt::format("/n/{:04}", i), "x");
  put("/z", "x");
  std::string token;
  int seen = 0;
  do {
    const auto page = ask("GetParametersByPath",
                          fmt::format(R"({{"Path":"/n","MaxResults":7,"NextToken":"{}"}})", token));
    ASSERT_EQ(page.status, 200) << page.body;
    for (std::size_t at = page.body.find(R"("Name":"/n/)"); at != page.body.npos;
         at = page.body.find(R"("Name":"/n/)", at + 1)) {
      EXPECT_EQ(page.body.substr(at + 11, 4), fmt::format("{:04}", seen));
      ++seen;
    }
    const std::size_t next = page.body.find(R"("NextToken":")");
    token = next == page.body.npos
                ? ""
                : page.body.substr(next + 13, page.body.find('"', next + 13) - next - 13);
  } while (!token.empty());
  EXPECT_EQ(seen, kCount);
  EXPECT_TRUE(
      ask("GetParametersByPath", R"({"Path":"/n","NextToken":"?"})").has("InvalidNextToken"));
}

TEST_F(SsmTest, WhatCannotBeStoredIsRefused) {
  const std::string large(4097, 'x');
  const struct {
    std::string body;
    std::string_view code;
  } cases[] = {
      {R"({"Name":"a b","Value":"x","Type":"String"})", "ValidationException"},
      {R"({"Name":"a/b","Value":"x","Type":"String"})", "ValidationException"},
      {R"({"Name":"/a//b","Value":"x","Type":"String"})", "ValidationException"},
      {R"({"Name":"AwsThing","Value":"x","Type":"String"})", "ValidationException"},
      {R"({"Name":"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16","Value":"x","Type":"String"})",
       "HierarchyLevelLimitExceededException"},
      {R"({"Name":"p","Value":"","Type":"String"})", "ValidationException"},
      {R"({"Name":"p","Value":"x"})", "ValidationException"},
      {R"({"Name":"p","Value":"x","Type":"Blob"})", "UnsupportedParameterType"},
      {R"({"Name":"p","Value":"x","Type":"String","KeyId":"other"})", "InvalidKeyId"},
      {R"({"Name":"p","Value":"x","Type":"String","Tier":"Gold"})", "ValidationException"},
      {R"({"Name":"p","Value":"x","Type":"String","DataType":"aws:ec2:image"})",
       "ValidationException"},
      {R"({"Name":"p","Value":"x","Type":"String","AllowedPattern":"a+"})", "ValidationException"},
      {fmt::format(R"({{"Name":"p","Value":"{}","Type":"String"}})", large), "ValidationException"},
      {R"({"Name":)", "SerializationException"},
  };
  for (const auto& each : cases) {
    const auto reply = ask("PutParameter", each.body);
    EXPECT_EQ(reply.status, 400) << each.body;
    EXPECT_TRUE(reply.has(fmt::format(R"("__type":"{}")", each.code)))
        << each.body << " " << reply.body;
  }
  EXPECT_TRUE(
      ask("PutParameter",
          fmt::format(R"({{"Name":"p","Value":"{}","Type":"String","Tier":"Advanced"}})", large))
          .has(R"("Tier":"Advanced")"));
}

TEST_F(SsmTest, AnUnknownActionIsRefused) {
  const auto reply = ask("DescribeParameters", "{}");
  EXPECT_EQ(reply.status, 400);
  EXPECT_TRUE(reply.has(R"("__type":"UnknownOperationException")")) << reply.body;
  EXPECT_TRUE(reply.head.find("x-amzn-RequestId: ") != reply.head.npos);
}

TEST_F(SsmTest, ChangesAreAuditedWithoutTheirValues) {
  std::vector<std::string> lines;
  open({.audit = [&](std::string line) { lines.push_back(std::move(line)); }, .failed = {}});
  put("p", "hunter2");
  (void)ask("PutParameter", R"({"Name":"p","Value":"x","Type":"String"})");
  (void)ask("GetParameter", R"({"Name":"p"})");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines[0].find(R"("service":"ssm","action":"PutParameter","resource":"p")"),
            std::string::npos)
      << lines[0];
  EXPECT_EQ(lines[0].find("hunter2"), std::string::npos);
  EXPECT_NE(lines[1].find(R"("outcome":"ParameterAlreadyExists")"), std::string::npos);
}

TEST_F(SsmTest, SaysThatItIsBusy) {
  open({}, [](http::Exchange&, auto, const auto&) { return false; });
  const auto reply = ask("GetParameter", R"({"Name":"p"})");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.body,
            error("ServiceUnavailableException", "The server is busy. Please try again."));
}

}  // namespace
}  // namespace redrive::ssm
