#include "core/journal/doorbell.h"

#include <gtest/gtest.h>

#include <thread>

namespace redrive::journal {
namespace {

using Clock = std::chrono::steady_clock;

TEST(Doorbell, KeepsARingForTheNextWait) {
  Doorbell bell;
  bell.ring();
  bell.ring();
  bell.wait_for(std::chrono::hours(1));
  const auto before = Clock::now();
  bell.wait_for(std::chrono::milliseconds(2));  // One ring is remembered, not two.
  EXPECT_GE(Clock::now() - before, std::chrono::milliseconds(1));
}

// Hangs if a ring is lost.
TEST(Doorbell, WakesWhoeverSleeps) {
  Doorbell there;
  Doorbell back;
  std::atomic<int> count = 0;
  constexpr int kTimes = 2'000;
  std::thread other([&] {
    for (int i = 1; i <= kTimes; ++i) {
      while (count.load() < i) there.wait_for(std::chrono::hours(1));
      back.ring();
    }
  });
  for (int i = 1; i <= kTimes; ++i) {
    count = i;
    there.ring();
    back.wait_for(std::chrono::hours(1));
  }
  other.join();
  EXPECT_EQ(count.load(), kTimes);
}

}  // namespace
}  // namespace redrive::journal
