#include <set>

#include "tests/functions/runtime/fixture.h"

namespace redrive::runtime {
namespace {

using Kind = Outcome::Kind;

// Invocations with limited concurrency.
class LaneTest : public InvokerTest {
 protected:
  LaneTest() { lane_ = std::make_shared<Lane>(); }
};

TEST_F(LaneTest, OneProcessServesALaneOfOne) {
  const FunctionSpec function = python("cases.count");
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 20; ++i) all.push_back(begin(function, "{}"));
  std::set<std::string> processes;
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = get(all[static_cast<std::size_t>(i)]);
    EXPECT_EQ(field(outcome.payload, "calls"), std::to_string(i + 1)) << "in order";
    processes.insert(field(outcome.payload, "pid"));
  }
  EXPECT_EQ(processes.size(), 1u);
  EXPECT_EQ(invoker().stats(function.arn).cold_starts, 1u);
}

TEST_F(LaneTest, SoManyRunAtATime) {
  lane_->running_max = 3;
  const FunctionSpec function = python("cases.count");
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 30; ++i) all.push_back(begin(function, "{}"));
  for (auto& future : all) EXPECT_EQ(get(future).kind, Kind::done);
  EXPECT_LE(invoker().stats(function.arn).cold_starts, 3u);
}

// Waiting in a lane is not waiting for capacity.
TEST_F(LaneTest, NobodyIsTurnedAway) {
  options_.queue_time_max = std::chrono::milliseconds(1);
  options_.processes_max = 1;
  FunctionSpec function = python("cases.sleeps");
  function.concurrency_max = 1;
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 3; ++i) all.push_back(begin(function, R"({"seconds":0.2})"));
  for (auto& future : all) EXPECT_EQ(get(future).kind, Kind::done);
  EXPECT_EQ(invoker().stats(function.arn).throttles, 0u);
}

// Batches of several mappings share the server's processes. A batch that waits for one is not
// throttled, since the visibility of its messages is extended and they would only come back.
TEST_F(LaneTest, WaitsForAProcessInsteadOfBeingThrottled) {
  options_.queue_time_max = std::chrono::milliseconds(1);
  options_.processes_max = 1;
  std::vector<std::string> warnings;
  options_.warn = [&](std::string line) { warnings.push_back(std::move(line)); };
  FunctionSpec other = python("cases.sleeps");
  other.arn += "-2";
  auto first = begin(python("cases.sleeps"), R"({"seconds":1})");
  lane_ = std::make_shared<Lane>();
  auto second = begin(other, R"({"seconds":0})");
  lane_ = nullptr;
  FunctionSpec direct = other;
  direct.arn += "-3";
  auto third = begin(direct, R"({"seconds":0})");
  EXPECT_EQ(get(third).kind, Kind::throttled) << "a caller waits for the answer";
  EXPECT_EQ(get(first).kind, Kind::done);
  const Outcome waited = get(second);
  EXPECT_EQ(waited.kind, Kind::done);
  EXPECT_TRUE(waited.waited_for_process);
  const ProcessUse use = invoker().process_use();
  EXPECT_EQ(use.processes_max, 1u);
  EXPECT_EQ(use.waits, 2u);
  invoker_.reset();
  ASSERT_EQ(warnings.size(), 1u) << "once a minute";
  EXPECT_THAT(warnings[0], testing::HasSubstr("all 1 function processes are in use"));
}

TEST_F(LaneTest, WhoIsTurnedAwayMakesRoomForTheNext) {
  FunctionSpec function = python("cases.echo");
  function.concurrency_max = 0;
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 50; ++i) all.push_back(begin(function, "{}"));
  for (auto& future : all) EXPECT_EQ(get(future).kind, Kind::throttled);
}

TEST_F(LaneTest, AFailureIsFollowedByTheNext) {
  auto first = begin(python("cases.exits"), R"({"code":4})");
  auto second = begin(python("cases.exits"), R"({"code":5})");
  EXPECT_THAT(get(first).error_message, testing::HasSubstr("exit status 4"));
  EXPECT_THAT(get(second).error_message, testing::HasSubstr("exit status 5"));
}

TEST_F(LaneTest, LanesDoNotWaitForEachOther) {
  auto slow = begin(python("cases.sleeps"), R"({"seconds":5})");
  lane_ = std::make_shared<Lane>();
  EXPECT_EQ(run(python("cases.sleeps"), R"({"seconds":0})").payload, "\"slept\"");
  EXPECT_EQ(slow.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
}

TEST_F(LaneTest, EverybodyHearsOfTheEnd) {
  std::vector<std::future<Outcome>> all;
  for (int i = 0; i < 5; ++i) all.push_back(begin(python("cases.sleeps"), R"({"seconds":30})"));
  invoker_.reset();
  for (auto& future : all) EXPECT_EQ(get(future).kind, Kind::service_error);
}

}  // namespace
}  // namespace redrive::runtime
