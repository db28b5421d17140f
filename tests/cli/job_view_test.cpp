#include "cli/job_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  // Slow at first, then fast: the beginning is forgotten.
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

}  // namespace
}  // namespace redrive::cli
