#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "functions/runtime/spawn.h"
#include "functions/runtime/users.h"
#include "tests/functions/runtime/fixture.h"

namespace redrive::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;
using Kind = Outcome::Kind;
using Sandbox = InvokerOptions::Sandbox;

// What a function sees of the machine, with a sandbox if available, and without.
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
  // 3 and 4 are the Runtime API, 5 is the log, 6 is the listing itself.
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
  // It may not have exec'd yet.
  for (int i = 0; i < 500 && !is_sleeping(seconds); ++i) ::usleep(10'000);
  EXPECT_TRUE(is_sleeping(seconds));
  invoker().retire(function.arn);
  for (int i = 0; i < 500 && is_sleeping(seconds); ++i) ::usleep(10'000);
  EXPECT_FALSE(is_sleeping(seconds));
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

// As installed by pyenv and nvm in root's home.
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

// Its own claims directory, and users that nothing else on the machine uses.
class Users : public testing::Test {
 protected:
  static constexpr unsigned kFirst = 3'000'000'000u;

  void SetUp() override {
    std::string pattern = std::filesystem::temp_directory_path() / "redrive-users-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    claims_ = pattern;
  }
  void TearDown() override {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    std::filesystem::remove_all(claims_);
  }

  std::filesystem::path claim_of(unsigned user) const {
    return claims_ / ("user-" + std::to_string(user));
  }

  // An idle process of that user.
  pid_t start_as(unsigned user) {
    const auto spawned = spawn(
        {.program = "/bin/sleep", .arguments = {"sleep", "100"}, .directory = "/", .user = user});
    EXPECT_TRUE(spawned.has_value());
    children_.push_back(spawned->pid);
    return spawned->pid;
  }
  static bool has_ended(pid_t child) {
    int status = 0;
    for (int i = 0; i < 200; ++i) {
      if (::waitpid(child, &status, WNOHANG) == child) return true;
      ::usleep(1000);
    }
    return false;
  }

  std::filesystem::path claims_;
  std::vector<pid_t> children_;
};

TEST_F(Users, AreBorrowedOnce) {
  auto first = borrow_user(claims_, kFirst, 2);
  auto second = borrow_user(claims_, kFirst, 2);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->id(), second->id());
  EXPECT_FALSE(borrow_user(claims_, kFirst, 2));
  const unsigned id = first->id();
  first.reset();
  EXPECT_FALSE(std::filesystem::exists(claim_of(id)));
  EXPECT_EQ(borrow_user(claims_, kFirst, 2)->id(), id);
}

// The claim is a file, so it applies across network namespaces.
TEST_F(Users, AreBorrowedOnceAcrossNetworkNamespaces) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root enters another network namespace";
  const auto first = borrow_user(claims_, kFirst, 1);
  ASSERT_TRUE(first);
  const pid_t elsewhere = ::fork();
  if (elsewhere == 0) {
    if (::unshare(CLONE_NEWNET) != 0) ::_exit(2);
    end_stray_processes(claims_, kFirst, 1);
    ::_exit(borrow_user(claims_, kFirst, 1) ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(elsewhere, &status, 0), elsewhere);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no network namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Users, ThatSomethingRunsAsAreNotBorrowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root starts processes of other users";
  start_as(kFirst);
  const auto lent = borrow_user(claims_, kFirst, 2);
  ASSERT_TRUE(lent);
  EXPECT_EQ(lent->id(), kFirst + 1);
}

TEST_F(Users, StrayProcessesEndOnlyIfTheirServerLeftAClaim) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root starts processes of other users";
  std::ofstream(claim_of(kFirst)).close();  // As left by a killed server.
  const auto held = borrow_user(claims_, kFirst + 1, 1);
  ASSERT_TRUE(held);
  const pid_t stray = start_as(kFirst);
  const pid_t of_a_server = start_as(kFirst + 1);
  const pid_t of_somebody = start_as(kFirst + 2);
  end_stray_processes(claims_, kFirst, 3);
  EXPECT_TRUE(has_ended(stray));
  EXPECT_FALSE(has_ended(of_a_server));
  EXPECT_FALSE(has_ended(of_somebody));
  EXPECT_FALSE(std::filesystem::exists(claim_of(kFirst)));
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
