#include "dead_letters/triage/deploys.h"

#include <gtest/gtest.h>

#include <vector>

namespace redrive::triage {
namespace {

using Verdict = DeployFinding::Verdict;

constexpr Timestamp at(std::int64_t seconds) {
  return Timestamp(1'700'000'000'000 + seconds * 1000);
}

CodeRun good() {
  return {.role = "function:orders",
          .code = "77aa01bc",
          .function = true,
          .handled = 12'301,
          .first_wall = at(0),
          .last_wall = at(1000),
          .deployed_wall = at(-5)};
}

CodeRun bad() {
  return {.role = "function:orders",
          .code = "9f3c2a1b",
          .function = true,
          .handled = 900,
          .failed_so = 25,
          .first_wall = at(1001),
          .last_wall = at(2000),
          .failed_first_wall = at(1040),
          .deployed_wall = at(1000)};
}

TEST(WhichDeploy, NamesTheVersionThatItBeganWith) {
  const std::vector<CodeRun> runs = {bad(), good()};
  const auto found = which_deploy(runs, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::began_with);
  EXPECT_EQ(
      found->sentence,
      "began 40 s after 9f3c2a1b was deployed; 0 of 12,301 failed like this under 77aa01bc, the "
      "previous version");
  EXPECT_FALSE(found->overlap_until);
}

// Later versions may fail, too: the first one is reported. Other roles are not mixed in.
TEST(WhichDeploy, TakesTheFirstBadVersionOfTheRoleThatFails) {
  CodeRun later = bad();
  later.code = "cafe0001";
  later.deployed_wall = at(1500);
  CodeRun other = good();
  other.role = "function:audit";
  other.code = "11111111";
  other.deployed_wall = at(990);
  const std::vector<CodeRun> runs = {later, other, bad(), good()};
  const auto found = which_deploy(runs, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code.code, "9f3c2a1b");
  EXPECT_EQ(found->before->code, "77aa01bc");
}

TEST(WhichDeploy, SaysWhenTooFewRanUnderTheVersionBefore) {
  CodeRun few = good();
  few.handled = 3;
  const std::vector<CodeRun> runs = {few, bad()};
  const auto found = which_deploy(runs, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::too_few);
  EXPECT_TRUE(found->sentence.ends_with("too few to decide")) << found->sentence;
}

TEST(WhichDeploy, BlamesNoDeployForWhatFailsUnderAll) {
  CodeRun before = good();
  before.failed_so = 30;
  before.failed_first_wall = at(1);
  const std::vector<CodeRun> runs = {before, bad()};
  const auto found = which_deploy(runs, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::any_version);
  EXPECT_EQ(found->sentence,
            "fails under all 2 known versions, from 77aa01bc on: not caused by a deploy");
}

TEST(WhichDeploy, HasNothingToCompareTheFirstVersionWith) {
  const std::vector<CodeRun> runs = {bad()};
  EXPECT_EQ(which_deploy(runs, true)->verdict, Verdict::first_known);
  EXPECT_FALSE(which_deploy({}, true));
}

// A rolling deploy of clients: both versions run for a while.
TEST(WhichDeploy, TellsTheIntervalOfARollingDeploy) {
  CodeRun before = good();
  CodeRun after = bad();
  before.function = after.function = false;
  before.deployed_wall = after.deployed_wall = std::nullopt;
  before.last_wall = at(1180);
  const std::vector<CodeRun> runs = {before, after};
  const auto found = which_deploy(runs, true);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->overlap_until, at(1180));
  EXPECT_EQ(
      found->sentence,
      "began 39 s after 9f3c2a1b was first seen; 0 of 12,301 failed like this under 77aa01bc, the "
      "previous version; both versions ran from 2023-11-14T22:30:01.000Z to "
      "2023-11-14T22:33:00.000Z");
}

// If versions have been dropped, the previous one may not be among the known ones.
TEST(WhichDeploy, ClaimsLessWhenVersionsWereForgotten) {
  const std::vector<CodeRun> runs = {bad(), good()};
  EXPECT_EQ(which_deploy(runs, false)->verdict, Verdict::too_few);
}

}  // namespace
}  // namespace redrive::triage
