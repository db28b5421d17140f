#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/users.h"
#include "tests/runtime/fixture.h"

namespace redrive::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = Outcome::Kind;
using Sandbox = InvokerOptions::Sandbox;

// What a function sees of the machine, with a sandbox where there is one, and without.
class IsolationTest : public InvokerTest, public testing::WithParamInterface<Sandbox> {
 protected:
  void SetUp() override {
    InvokerTest::SetUp();
    options_.sandbox = GetParam();
  }
  bool has_sandbox() { return invoker().isolation().find("bubblewrap") != std::string::npos; }
  bool hides_data() {
    return has_sandbox() || invoker().isolation().find("hidden") != std::string::npos;
  }
};

INSTANTIATE_TEST_SUITE_P(Sandboxes, IsolationTest,
                         testing::Values(Sandbox::automatic, Sandbox::off), [](const auto& chosen) {
                           return chosen.param == Sandbox::off ? "Off" : "Automatic";
                         });

TEST_P(IsolationTest, FunctionIsNobodyInParticular) {
  const std::string identity = run(python("cases.identity")).payload;
  EXPECT_EQ(field(identity, "groups"), ::geteuid() == 0 ? "[]" : field(identity, "groups"));
  // 3 and 4 lead to the Runtime API, 5 to the log, 6 is the listing itself.
  EXPECT_EQ(field(identity, "fds"), "[0,1,2,3,4,5,6]") << identity;
  if (::geteuid() != 0) return;
  EXPECT_GE(std::stoi(field(identity, "uid")), 60'578);
  EXPECT_EQ(field(identity, "uid"), field(identity, "gid"));
}

TEST_P(IsolationTest, EachProcessIsAUserOfItsOwn) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change users";
  FunctionSpec other = python("cases.identity");
  other.arn += "2";
  EXPECT_NE(field(run(python("cases.identity")).payload, "uid"), field(run(other).payload, "uid"));
}

TEST_P(IsolationTest, DataOfTheServerIsHidden) {
  if (!hides_data()) GTEST_SKIP() << "nothing can be hidden here";
  const std::string secret = (root_ / "secret").string();
  const Outcome outcome = run(python("cases.looks_around"), R"({"paths":[")" + secret + "\"]}");
  ASSERT_EQ(outcome.kind, Kind::done) << outcome.error_message;
  EXPECT_THAT(outcome.payload, Not(HasSubstr("journal")));
}

TEST_P(IsolationTest, OnlyItsOwnTemporaryDirectoryIsWritable) {
  if (!has_sandbox() && ::geteuid() != 0) GTEST_SKIP() << "the user's own files are its own";
  const std::string handlers = (root_ / "handlers/python/new").string();
  const Outcome outcome =
      run(python("cases.writes"), R"({"paths":[")" + handlers + R"(","/etc/new","/usr/new"]})");
  ASSERT_EQ(outcome.kind, Kind::done) << outcome.error_message;
  EXPECT_THAT(outcome.payload, Not(HasSubstr("true")));
  EXPECT_EQ(run(python("cases.looks_around"), R"({"paths":[]})").kind, Kind::done);
}

TEST_P(IsolationTest, EventsOfOthersCannotBeTaken) {
  if (::geteuid() != 0) GTEST_SKIP() << "all functions are one user";
  FunctionSpec thief = python("cases.steals");
  thief.arn += "2";
  const std::string port = run(python("cases.port")).payload;
  const Outcome outcome = run(thief, R"({"port":)" + port + "}");
  EXPECT_THAT(outcome.payload, testing::AnyOf("0", "\"ConnectionResetError\"")) << outcome.log;
  EXPECT_EQ(run(python("cases.port")).payload, port) << "the victim works on";
}

TEST_P(IsolationTest, TheHardCasesAreHardWithoutASandboxToo) {
  FunctionSpec sleeper = python("cases.sleeps");
  sleeper.timeout = std::chrono::milliseconds(500);
  EXPECT_EQ(run(sleeper, R"({"seconds":9})").error_type, "Sandbox.Timedout");
  EXPECT_EQ(run(python("cases.kills_itself")).error_message,
            "RequestId: id-2 Error: Runtime exited with error: signal: killed");
  EXPECT_EQ(run(node("index.echo"), "1").payload, "1");
  EXPECT_EQ(run(command("./reply.sh"), "2").payload, "2");
}

TEST_P(IsolationTest, ChildrenOfAFinishedInvocationDieWithTheirWorker) {
  FunctionSpec function = python("cases.forks");
  const bool contained = has_sandbox() || ::geteuid() == 0;
  const std::string seconds = std::to_string(200'000 + ::getpid());
  const std::string apart = contained ? "true" : "false";
  EXPECT_EQ(
      run(function, R"({"hang":false,"apart":)" + apart + R"(,"seconds":")" + seconds + "\"}").kind,
      Kind::done);
  // It may not have its name yet.
  for (int i = 0; i < 500 && !is_somebody_sleeping(seconds); ++i) ::usleep(10'000);
  EXPECT_TRUE(is_somebody_sleeping(seconds));
  invoker().retire(function.arn);
  for (int i = 0; i < 500 && is_somebody_sleeping(seconds); ++i) ::usleep(10'000);
  EXPECT_FALSE(is_somebody_sleeping(seconds));
}

TEST_F(InvokerTest, CodeThatOnlyTheServerMayReadRuns) {
  ::chmod((root_ / "handlers").c_str(), 0700);
  for (const bool may_mount : {true, false}) {
    options_.may_mount = may_mount;
    for (const Sandbox sandbox : {Sandbox::automatic, Sandbox::off}) {
      options_.sandbox = sandbox;
      invoker_.reset();
      EXPECT_EQ(run(python("cases.echo"), "1").payload, "1") << may_mount << invoker().isolation();
    }
  }
}

// As pyenv and nvm put into the home of root.
TEST_F(InvokerTest, InterpretersThatOnlyTheServerMayRunArePassedOver) {
  if (::getuid() != 0) GTEST_SKIP() << "only root runs functions as somebody else";
  const std::filesystem::path home = root_ / "home";
  std::filesystem::create_directories(home);
  std::ofstream(home / "python3.99") << "#!/bin/sh\nexit 9\n";
  ::chmod((home / "python3.99").c_str(), 0755);
  ::chmod(home.c_str(), 0700);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (home.string() + ":" + path).c_str(), 1);
  FunctionSpec function = python("cases.echo");
  function.runtime = "python3.99";
  EXPECT_EQ(run(function, "1").payload, "1");
  ::setenv("PATH", path.c_str(), 1);
}

TEST(Users, AreBorrowedOnce) {
  auto first = borrow_user(3'000'000'000u, 2);
  auto second = borrow_user(3'000'000'000u, 2);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->id, second->id);
  EXPECT_FALSE(borrow_user(3'000'000'000u, 2));
  const unsigned id = first->id;
  first.reset();
  EXPECT_EQ(borrow_user(3'000'000'000u, 2)->id, id);
}

TEST_F(InvokerTest, ScratchThatNobodyMayEnterIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "functions are the server's own user";
  std::filesystem::create_directory(root_ / "closed");
  ::chmod((root_ / "closed").c_str(), 0700);
  options_.scratch = root_ / "closed" / "scratch";
  const auto made = make_invoker(options_);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("choose a scratch directory"));
}

}  // namespace
}  // namespace redrive::runtime
