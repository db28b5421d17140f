#include "cli/client/retry.h"

#include <gtest/gtest.h>

#include <vector>

namespace redrive::cli {
namespace {

TEST(Backoff, DoublesUpToItsLimitAndGivesUp) {
  SeededIds ids(1);
  std::vector<Duration> pauses;
  Backoff backoff(ids, [&](Duration pause) { pauses.push_back(pause); });
  while (backoff.again()) {
  }
  ASSERT_EQ(pauses.size(), static_cast<std::size_t>(Backoff::kAttemptsMax - 1));
  Duration longest = Backoff::kFirst;
  for (const Duration pause : pauses) {
    EXPECT_GE(pause, longest / 2);
    EXPECT_LE(pause, longest);
    longest = std::min(longest * 2, Backoff::kLongest);
  }
}

TEST(Backoff, StartsSmallAfterSuccess) {
  SeededIds ids(2);
  std::vector<Duration> pauses;
  Backoff backoff(ids, [&](Duration pause) { pauses.push_back(pause); });
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(backoff.again());
  backoff.reset();
  EXPECT_TRUE(backoff.again());
  EXPECT_LE(pauses.back(), Backoff::kFirst);
}

}  // namespace
}  // namespace redrive::cli
