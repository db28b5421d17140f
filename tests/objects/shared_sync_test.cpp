#include "objects/shared_sync.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "tests/base/eventually.h"

namespace redrive::objects {
namespace {

TEST(SharedSync, OneSyncServesAllEarlierCallers) {
  SharedSync shared;
  std::atomic<int> syncs = 0;
  std::latch first_runs(1);
  std::latch may_end(1);
  std::jthread first([&] {
    EXPECT_TRUE(shared([&]() -> Outcome<void> {
      ++syncs;
      first_runs.count_down();
      may_end.wait();
      return {};
    }));
  });
  first_runs.wait();
  // These were called while a sync was running, which may not include their changes, so another one
  // has to start.
  std::atomic<int> asking = 0;
  std::vector<std::jthread> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([&] {
      ++asking;
      EXPECT_TRUE(shared([&]() -> Outcome<void> {
        ++syncs;
        return {};
      }));
    });
  }
  EXPECT_TRUE(eventually([&] { return asking == 8; }));
  may_end.count_down();
  others.clear();
  first.join();
  EXPECT_GE(syncs, 2);
  EXPECT_LE(syncs, 9);
}

TEST(SharedSync, AFailureIsReportedToItsCallersOnly) {
  SharedSync shared;
  const auto fails = shared([] { return Outcome<void>(failure(Fault::io, "no disk")); });
  ASSERT_FALSE(fails.has_value());
  EXPECT_EQ(fails.error().message, "no disk");
  EXPECT_TRUE(shared([] { return Outcome<void>(); }).has_value());
}

}  // namespace
}  // namespace redrive::objects
