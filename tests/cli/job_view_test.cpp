#include "cli/client/job_view.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/fake_world.h"

namespace redrive::cli {
namespace {

using testing::HasSubstr;

documents::Job running_job(std::int64_t moved) {
  return {.id = "j",
          .status = "running",
          .to_move = 500,
          .moved = moved,
          .succeeded = 100,
          .failed_again = 3,
          .open = moved - 103};
}

TEST(JobProgress, ShowsTheRateOfTheLastSecondsAndTheTimeLeft) {
  JobRate rate;
  rate.note(Timestamp(0), 0);
  EXPECT_EQ(rate.per_second(), 0);
  // Slow at first, then fast: the beginning no longer counts.
  rate.note(Timestamp(60'000), 60);
  rate.note(Timestamp(65'000), 260);
  rate.note(Timestamp(70'000), 460);
  EXPECT_EQ(rate.per_second(), 40);
  const std::string line = progress_line(running_job(460), rate);
  EXPECT_EQ(line, "460 of 500 moved (40/s, 1 s left): 100 processed, 3 failed again, 357 open");
}

TEST(JobProgress, SaysNothingOfTheTimeLeftWhenNothingMoves) {
  JobRate rate;
  rate.note(Timestamp(0), 120);
  rate.note(Timestamp(1'000), 120);
  EXPECT_THAT(progress_line(running_job(120), rate), HasSubstr("moved (0/s):"));
}

std::string job_json(std::string_view id, std::string_view rest) {
  return fmt::format(
      R"({{"id":"{}","queue":"dlq","stage":0,"maxFailurePercent":50,"watchSeconds":1,"toMove":2,"moved":2,"startedAt":"t",{}}})",
      id,
      rest);
}

struct JobWatch : testing::Test {
  FakeWorld world;

  int exit_code_of(std::string_view outcome, std::vector<std::string> arguments) {
    world.server.answer(
        "GET /_redrive/v1/jobs",
        fmt::format(
            R"({{"jobs":[{},{}]}})", job_json("newest", outcome), job_json("old", outcome)));
    world.server.answer("GET /_redrive/v1/jobs/newest", job_json("newest", outcome));
    const Outcome done = world.run(std::move(arguments));
    EXPECT_THAT(done.out, HasSubstr("newest"));
    return done.exit_code;
  }
};

constexpr std::string_view kProcessed =
    R"("status":"completed","succeeded":2,"failedAgain":0,"gone":0,"open":0)";
constexpr std::string_view kFailedAgain =
    R"("status":"completed","succeeded":1,"failedAgain":1,"gone":0,"open":0)";
constexpr std::string_view kOpen =
    R"("status":"completed","succeeded":1,"failedAgain":0,"gone":0,"open":1)";

TEST_F(JobWatch, TakesTheNewestJobWithoutAnId) {
  EXPECT_EQ(exit_code_of(kOpen, {"job", "watch"}), 0);
}
TEST_F(JobWatch, UntilSettledExitsWithZeroWhenAllWereProcessed) {
  EXPECT_EQ(exit_code_of(kProcessed, {"job", "watch", "--until-settled"}), 0);
}
TEST_F(JobWatch, UntilSettledExitsWithOneWhenSomeFailedAgain) {
  EXPECT_EQ(exit_code_of(kFailedAgain, {"job", "watch", "--until-settled"}), 1);
}
TEST_F(JobWatch, UntilSettledExitsWithThreeWhenSomeAreOpen) {
  EXPECT_EQ(exit_code_of(kOpen, {"job", "watch", "--until-settled"}), 3);
}

}  // namespace
}  // namespace redrive::cli
