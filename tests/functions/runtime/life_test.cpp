#include <set>

#include "tests/functions/runtime/fixture.h"

namespace redrive::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using Kind = Outcome::Kind;

// Processes that exit, hang, grow and fork; and how they are assigned.
using LifeTest = InvokerTest;

TEST_F(LifeTest, TimeoutKillsAndTellsSo) {
  FunctionSpec function = python("cases.sleeps");
  function.timeout = std::chrono::milliseconds(1000);
  const Outcome outcome = run(function, R"({"seconds":30})");
  EXPECT_EQ(outcome.kind, Kind::function_error);
  EXPECT_TRUE(outcome.fatal);
  EXPECT_EQ(
      outcome.payload,
      R"({"errorType":"Sandbox.Timedout","errorMessage":"RequestId: id-1 Error: Task timed out after 1.00 seconds"})");
  EXPECT_THAT(outcome.log, HasSubstr("before\n"));
  EXPECT_THAT(outcome.log, HasSubstr("Z id-1 Task timed out after 1.00 seconds\n"));
  EXPECT_LT(outcome.duration, std::chrono::seconds(5));
  EXPECT_EQ(run(function, R"({"seconds":0})").payload, "\"slept\"") << "a fresh process serves";
  EXPECT_EQ(invoker().stats(function.arn).timeouts, 1u);
  EXPECT_EQ(invoker().stats(function.arn).cold_starts, 2u);
}

TEST_F(LifeTest, ExitsAreToldApart) {
  const Outcome status = run(python("cases.exits"), R"({"code":4})");
  EXPECT_EQ(status.error_type, "Runtime.ExitError");
  EXPECT_EQ(status.error_message,
            "RequestId: id-1 Error: Runtime exited with error: exit status 4");
  EXPECT_THAT(status.log, HasSubstr("about to go\n"));
  EXPECT_TRUE(status.fatal);
  EXPECT_EQ(run(python("cases.exits"), R"({"code":0})").error_message,
            "RequestId: id-2 Error: Runtime exited without providing a reason");
  EXPECT_EQ(run(python("cases.quits"), R"({"code":5})").error_message,
            "RequestId: id-3 Error: Runtime exited with error: exit status 5");
  const Outcome killed = run(python("cases.kills_itself"));
  EXPECT_EQ(killed.error_type, "Runtime.ExitError");
  EXPECT_EQ(killed.error_message,
            "RequestId: id-4 Error: Runtime exited with error: signal: killed");
}

TEST_F(LifeTest, MemoryHasALimit) {
  FunctionSpec function = python("cases.leaks");
  function.memory_mb = 128;
  const Outcome outcome = run(function);
  EXPECT_EQ(outcome.error_type, "Runtime.OutOfMemory");
  EXPECT_EQ(outcome.error_message,
            "RequestId: id-1 Error: Runtime exited with error: signal: killed");
  EXPECT_TRUE(outcome.fatal);
  EXPECT_THAT(outcome.log, MatchesRegex("(.|\n)*Max Memory Used: 1[0-9][0-9] MB(.|\n)*"));
}

TEST_F(LifeTest, MemoryOfAWarmProcessHasALimitToo) {
  FunctionSpec function = python("cases.leaks");
  function.memory_mb = 128;
  EXPECT_EQ(run(function, "\"not yet\"").payload, "null");
  ::usleep(300'000);  // Idle, so memory is not checked.
  EXPECT_EQ(run(function).error_type, "Runtime.OutOfMemory");
  EXPECT_EQ(invoker().stats(function.arn).cold_starts, 1u);
}

TEST_F(LifeTest, ChildrenDieWithATimeout) {
  FunctionSpec function = python("cases.forks");
  function.timeout = std::chrono::milliseconds(1500);
  const bool sandboxed = invoker().isolation().find("bubblewrap") != std::string::npos;
  // A child in its own session is found by its user, or by its sandbox.
  const bool contained = sandboxed || ::geteuid() == 0;
  const std::string apart = contained ? "true" : "false";
  // A number that no other test sleeps for, so that the child can be found from outside.
  const std::string seconds = std::to_string(100'000 + ::getpid());
  const Outcome outcome =
      run(function, R"({"hang":true,"apart":)" + apart + R"(,"seconds":")" + seconds + "\"}");
  EXPECT_EQ(outcome.error_type, "Sandbox.Timedout") << outcome.log;
  EXPECT_THAT(outcome.log, HasSubstr("child "));
  for (int i = 0; i < 500 && is_sleeping(seconds); ++i) ::usleep(10'000);
  EXPECT_FALSE(is_sleeping(seconds));
}

TEST_F(LifeTest, ProcessThatIgnoresSigtermIsKilled) {
  const int pid = std::stoi(run(python("cases.ignores_sigterm")).payload);
  invoker().retire(python("").arn);
  for (int i = 0; i < 500 && !std::filesystem::is_empty(root_ / "scratch"); ++i) {
    bool left = false;
    for (const auto& entry : std::filesystem::directory_iterator(root_ / "scratch")) {
      left |= entry.path().filename().string().starts_with("process-");
    }
    if (!left) break;
    ::usleep(10'000);
    ASSERT_LT(i, 499) << "process " << pid << " and its place are still there";
  }
}

TEST_F(LifeTest, AnotherRevisionHasItsOwnProcess) {
  const Outcome first = run(python("cases.count"));
  FunctionSpec changed = python("cases.count");
  changed.revision = "2";
  changed.environment["NEW"] = "1";
  const Outcome second = run(changed);
  EXPECT_EQ(field(second.payload, "calls"), "1");
  EXPECT_EQ(invoker().stats(changed.arn).cold_starts, 2u);
  EXPECT_EQ(field(run(changed).payload, "calls"), "2");
}

TEST_F(LifeTest, RunningOnesFinishBeforeTheyRetire) {
  auto running = begin(python("cases.sleeps"), R"({"seconds":0.3})");
  while (invoker().stats(python("").arn).cold_starts == 0) ::usleep(1000);
  invoker().retire(python("").arn);
  EXPECT_EQ(get(running).payload, "\"slept\"");
  EXPECT_EQ(run(python("cases.sleeps"), R"({"seconds":0})").payload, "\"slept\"");
  EXPECT_EQ(invoker().stats(python("").arn).cold_starts, 2u);
}

TEST_F(LifeTest, ManyAtOnceGetManyProcesses) {
  options_.processes_max = 4;
  options_.queue_time_max = std::chrono::seconds(30);
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 40; ++i) all.push_back(begin(python("cases.count"), "{}"));
  int done = 0;
  for (auto& future : all) done += get(future).kind == Kind::done;
  EXPECT_EQ(done, 40);
  const FunctionStats stats = invoker().stats(python("").arn);
  EXPECT_LE(stats.cold_starts, 4u);
  EXPECT_EQ(stats.running, 0u);
}

TEST_F(LifeTest, ReservedConcurrencyTurnsOthersAway) {
  FunctionSpec function = python("cases.sleeps");
  function.concurrency_max = 1;
  auto first = begin(function, R"({"seconds":0.2})");
  const Outcome second = run(function, R"({"seconds":0})");
  EXPECT_EQ(second.kind, Kind::throttled);
  EXPECT_EQ(second.error_message, "ReservedFunctionConcurrentInvocationLimitExceeded");
  EXPECT_EQ(get(first).kind, Kind::done);
  function.concurrency_max = 0;
  EXPECT_EQ(run(function).kind, Kind::throttled);
  EXPECT_EQ(invoker().stats(function.arn).throttles, 2u);
}

TEST_F(LifeTest, FullHouseThrottlesAfterAWhile) {
  options_.processes_max = 1;
  options_.queue_time_max = std::chrono::milliseconds(200);
  auto first = begin(python("cases.sleeps"), R"({"seconds":2})");
  FunctionSpec other = python("cases.echo");
  other.arn += "2";
  EXPECT_EQ(run(other).kind, Kind::throttled);
  EXPECT_EQ(get(first).kind, Kind::done);
}

TEST_F(LifeTest, IdleProcessMakesRoomForAnotherFunction) {
  options_.processes_max = 1;
  options_.queue_time_max = std::chrono::seconds(10);
  EXPECT_EQ(run(python("cases.echo")).kind, Kind::done);
  FunctionSpec other = python("cases.echo");
  other.arn += "2";
  EXPECT_EQ(run(other, "2").payload, "2");
  EXPECT_EQ(invoker().stats(python("").arn).idle, 0u);
}

TEST_F(LifeTest, IdleProcessEndsAfterItsTime) {
  options_.idle_time_max = std::chrono::milliseconds(100);
  run(python("cases.echo"));
  for (int i = 0; i < 500 && invoker().stats(python("").arn).idle > 0; ++i) ::usleep(10'000);
  EXPECT_EQ(invoker().stats(python("").arn).idle, 0u);
}

TEST_F(LifeTest, EndOfTheServerEndsEverythingWithoutAVerdict) {
  auto running = begin(python("cases.sleeps"), R"({"seconds":60})");
  while (invoker().stats(python("").arn).running == 0) ::usleep(1000);
  FunctionSpec slow = command("./hang.sh");
  slow.arn += "2";
  auto run_command = begin(slow, "{}");
  ::usleep(50'000);
  const auto begin_time = std::chrono::steady_clock::now();
  invoker_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin_time, std::chrono::seconds(10));
  EXPECT_EQ(get(running).kind, Kind::service_error);
  EXPECT_EQ(get(run_command).kind, Kind::service_error);
  EXPECT_FALSE(std::filesystem::exists(root_ / "scratch"));
}

TEST_F(LifeTest, ForgottenFunctionHasNoPast) {
  run(python("cases.echo"));
  invoker().forget(python("").arn);
  run(python("cases.echo"));
  EXPECT_EQ(invoker().stats(python("").arn).invocations, 1u);
}

TEST_F(LifeTest, MissingThingsAreTold) {
  FunctionSpec function = python("x.y");
  function.runtime = "provided.al2023";
  EXPECT_EQ(run(function).error_message,
            "RequestId: id-1 Error: Couldn't find valid bootstrap(s): [/var/task/bootstrap "
            "/opt/bootstrap]");
  function.runtime = "java21";
  EXPECT_EQ(run(function).kind, Kind::service_error);
  function = python("x.y");
  function.code = root_ / "nowhere";
  EXPECT_EQ(run(function).error_type, "Runtime.InvalidEntrypoint");
}

}  // namespace
}  // namespace redrive::runtime
