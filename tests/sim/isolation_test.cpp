#include "sim/isolation.h"

#include <gtest/gtest.h>

namespace redrive::sim {
namespace {

TEST(IsolationRun, OnlyBadMessagesDie) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Verdict verdict = IsolationRun({.seed = seed}).run();
    EXPECT_TRUE(verdict.passed) << seed << ": " << verdict.invariant << ": " << verdict.detail;
  }
}

TEST(IsolationRun, NoticesThatGoodMessagesDieWithoutIsolation) {
  int noticed = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    noticed += !IsolationRun({.seed = seed, .isolates = false}).run().passed;
  }
  EXPECT_GE(noticed, 8);
}

}  // namespace
}  // namespace redrive::sim
