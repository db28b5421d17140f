#include "observe/monitor/disk_watch.h"

#include <gtest/gtest.h>

namespace redrive::monitor {
namespace {

constexpr std::uint64_t kSegment = 32u << 20;

DiskState judge(std::uint64_t free, DiskState before, bool has_room = true) {
  return judge_disk({.free_bytes = free * kSegment, .total_bytes = 100 * kSegment},
                    {.segment_bytes = kSegment, .has_room = has_room},
                    before);
}

TEST(DiskWatch, ATenthIsLowAndItTakesMoreToBeWellAgain) {
  EXPECT_EQ(judge(10, DiskState::ok), DiskState::ok);
  EXPECT_EQ(judge(9, DiskState::ok), DiskState::low);
  EXPECT_EQ(judge(11, DiskState::low), DiskState::low);
  EXPECT_EQ(judge(12, DiskState::low), DiskState::ok);
}

// Reported while one segment of the reserve is left: before anything is refused.
TEST(DiskWatch, ItIsFullWhenNoSegmentFits) {
  EXPECT_EQ(judge(1, DiskState::low), DiskState::low);
  EXPECT_EQ(judge(0, DiskState::low), DiskState::full);
  EXPECT_EQ(judge(0, DiskState::ok), DiskState::full);
  EXPECT_EQ(judge(1, DiskState::full), DiskState::full);
  EXPECT_EQ(judge(2, DiskState::full), DiskState::low);
  EXPECT_EQ(judge(50, DiskState::full), DiskState::ok);
}

TEST(DiskWatch, ItIsFullWhenSendsAreRefusedWhateverTheSystemSays) {
  EXPECT_EQ(judge(90, DiskState::ok, false), DiskState::full);
}

TEST(DiskWatch, ReadsTheFileSystemOfADirectory) {
  const auto reading = read_disk("/");
  ASSERT_TRUE(reading);
  EXPECT_GT(reading->total_bytes, 0u);
  EXPECT_LE(reading->free_bytes, reading->total_bytes);
  EXPECT_FALSE(read_disk("/no such directory"));
}

}  // namespace
}  // namespace redrive::monitor
