#include "core/journal/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace redrive::journal {
namespace {

// Every byte encodes its position, and every read is recorded.
class TellingFile final : public File {
 public:
  static char byte_at(std::uint64_t offset) { return static_cast<char>(offset * 7 + offset / 251); }

  explicit TellingFile(std::uint64_t size) : size_(size) {}
  Result<std::size_t> read(std::uint64_t offset, char* out, std::size_t size) override {
    {
      const std::lock_guard lock(mutex_);
      reads_.push_back(size);
      end_of_reads_ = std::max(end_of_reads_, offset + size);
    }
    const std::size_t count = std::min<std::uint64_t>(size, size_ - std::min(size_, offset));
    for (std::size_t i = 0; i < count; ++i) out[i] = byte_at(offset + i);
    return count;
  }
  Result<void> write(std::uint64_t, std::span<const std::string_view>) override { return {}; }
  Result<void> write_zeros(std::uint64_t, std::uint64_t) override { return {}; }
  Result<void> sync() override { return {}; }
  Result<std::uint64_t> size() override { return size_; }
  Result<void> reserve(std::uint64_t) override { return {}; }

  std::vector<std::size_t> reads() {
    const std::lock_guard lock(mutex_);
    return reads_;
  }
  std::uint64_t end_of_reads() {
    const std::lock_guard lock(mutex_);
    return end_of_reads_;
  }

 private:
  const std::uint64_t size_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::size_t> reads_;
  std::uint64_t end_of_reads_ = 0;
};

constexpr std::uint32_t kEnd = 8u << 20;

class ReadAheadTest : public ::testing::Test {
 protected:
  // Returns whether it came from a window, and checks the content if so.
  bool read(Location from, std::uint32_t bytes, std::uint32_t end = kEnd) {
    const auto window = find({told_, from, bytes, end});
    if (window) expect_told(*window, from, bytes);
    return window != nullptr;
  }
  std::shared_ptr<const ReadAhead::Window> find(ReadAhead::Piece piece) {
    if (!ahead_.find(std::span(&piece, 1))) return nullptr;
    return piece.window;
  }
  static void expect_told(const ReadAhead::Window& window, Location from, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
      if (window.at(from)[i] != TellingFile::byte_at(from.offset + i)) ADD_FAILURE() << i;
    }
  }

  std::shared_ptr<TellingFile> told_ = std::make_shared<TellingFile>(kEnd);
  TellingFile& file_ = *told_;
  ReadAhead ahead_;
};

TEST_F(ReadAheadTest, WhoReadsOneAfterTheOtherReadsEverLargerWindows) {
  EXPECT_FALSE(read({1, 5000}, 10'000));
  std::uint32_t at = 15'000;
  for (; at + 10'100 < kEnd; at += 10'100) EXPECT_TRUE(read({1, at}, 10'000)) << at;
  // Read twice where the next window was not ready in time.
  const auto reads = file_.reads();
  EXPECT_LT(reads.size(), 2 * 24u);
  EXPECT_EQ(reads.front(), 64u << 10);
  EXPECT_EQ(std::ranges::max(reads), 512u << 10);
}

TEST_F(ReadAheadTest, PiecesThatAreLookedForTogetherShareTheWindowThatTheFirstOfThemReads) {
  EXPECT_FALSE(read({1, 0}, 1000));
  std::vector<ReadAhead::Piece> pieces;
  for (std::uint32_t at = 1000; at < 20'000; at += 1000)
    pieces.push_back({told_, {1, at}, 1000, kEnd});
  pieces.push_back({told_, {2, 500'000}, 1000, kEnd});
  pieces.push_back({told_, {1, 20'000}, 1000, kEnd});
  ASSERT_TRUE(ahead_.find(pieces).has_value());
  EXPECT_EQ(pieces[pieces.size() - 2].window, nullptr);  // Not sequential there.
  std::erase_if(pieces, [](const auto& piece) { return piece.from.segment == 2; });
  for (const auto& piece : pieces) {
    ASSERT_EQ(piece.window, pieces.front().window);
    expect_told(*piece.window, piece.from, piece.bytes);
  }
  EXPECT_EQ(file_.reads().size(), 1u);
}

TEST_F(ReadAheadTest, WhatMayStillChangeIsLeftToItsReader) {
  EXPECT_FALSE(read({1, 0}, 1000, 1500));
  EXPECT_FALSE(read({1, 1000}, 1000, 1500));
  EXPECT_TRUE(file_.reads().empty());
}

TEST_F(ReadAheadTest, WhatIsReadHereAndThereIsLeftToItsReader) {
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_FALSE(read({1, i * 37 % 100 * 80'000}, 10'000));
  EXPECT_TRUE(file_.reads().empty());
}

TEST_F(ReadAheadTest, SeveralReadersHaveWindowsOfTheirOwn) {
  constexpr std::uint32_t kReaders = 12;
  std::uint32_t had = 0;
  for (std::uint32_t step = 0; step < 50; ++step) {
    for (std::uint32_t segment = 1; segment <= kReaders; ++segment) {
      had += read({segment, step * 10'000}, 10'000) ? 1 : 0;
    }
  }
  EXPECT_GT(had, 45 * kReaders);  // All but the first, unless windows are late.
  EXPECT_LT(file_.reads().size(), 2 * kReaders * 6);
}

// Ten messages of each of a hundred groups, group by group, then the next ten: bytes between two of
// a group's messages are read for the other groups, and hardly anything is read twice.
TEST_F(ReadAheadTest, WhoGoesToAndFroReadsEverythingOnce) {
  constexpr std::uint32_t kBytes = 1000;
  constexpr std::uint32_t kGroups = 100;
  constexpr std::uint32_t kRounds = kEnd / (10 * kGroups * kBytes);
  std::uint32_t missed = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      for (std::uint32_t i = 0; i < 10; ++i) {
        const std::uint32_t message = (10 * round + i) * kGroups + group;
        missed += read({1, message * kBytes}, kBytes) ? 0 : 1;
      }
    }
  }
  EXPECT_LT(missed, kRounds * 10);
  const auto reads = file_.reads();
  // Read twice where the next window was not ready in time.
  EXPECT_LT(std::accumulate(reads.begin(), reads.end(), std::size_t{0}), 2 * kEnd);
}

// Sixty-five readers with sixty-four slots: each finds its own slot evicted, and nothing is read in
// vain.
TEST_F(ReadAheadTest, WhereThereAreTooManyReadersNobodyReadsAhead) {
  for (std::uint32_t step = 0; step < 50; ++step) {
    for (std::uint32_t segment = 1; segment <= 65; ++segment) {
      EXPECT_FALSE(read({segment, step * 10'000}, 10'000));
    }
  }
  EXPECT_TRUE(file_.reads().empty());
}

// Some of forty readers have windows, and keep them: later ones do not evict them.
TEST_F(ReadAheadTest, WhereThereIsNoRoomForAllSomeHaveWindows) {
  constexpr std::uint32_t kReaders = 40;
  std::uint32_t had = 0;
  for (std::uint32_t step = 0; step < 100; ++step) {
    for (std::uint32_t segment = 1; segment <= kReaders; ++segment) {
      had += read({segment, step * 10'000}, 10'000) ? 1 : 0;
    }
  }
  EXPECT_GT(had, 100 * kReaders / 2);
  const auto reads = file_.reads();
  EXPECT_LT(std::accumulate(reads.begin(), reads.end(), std::size_t{0}), 2u * had * 10'000);
}

// Random reads do not disturb a sequential reader.
TEST_F(ReadAheadTest, StrangersDoNotDisturbAReader) {
  EXPECT_FALSE(read({1, 0}, 1000));
  for (std::uint32_t i = 1; i < 1000; ++i) {
    EXPECT_TRUE(read({1, i * 1000}, 1000)) << i;
    for (std::uint32_t j = 0; j < 20; ++j) {
      EXPECT_FALSE(read({2 + j, i * 37 % 100 * 80'000}, 1000));
    }
  }
}

TEST_F(ReadAheadTest, WindowsEndWhereWhatMayChangeBegins) {
  constexpr std::uint32_t kUsed = 40'000;
  EXPECT_FALSE(read({1, 0}, 1000, kUsed));
  EXPECT_TRUE(read({1, 1000}, 1000, kUsed));
  EXPECT_TRUE(read({1, 39'000}, 1000, kUsed));
  const std::size_t before = file_.reads().size();
  EXPECT_TRUE(
      read({1, 40'000}, 5000, 2 * kUsed));  // Appended since: the old window does not contain it.
  EXPECT_EQ(file_.reads().size(), before + 1);
}

// A window as short as the log was, which then grows: nothing outside of it is read.
TEST_F(ReadAheadTest, AShortWindowIsFollowedByOneOfTheSameSegment) {
  constexpr std::uint32_t kShort = 12'000;
  EXPECT_FALSE(read({1, 0}, 1000, kShort));
  EXPECT_TRUE(read({1, 1000}, 1000, kShort));
  for (std::uint32_t at = 2000; at < 1u << 20; at += 1000) EXPECT_TRUE(read({1, at}, 1000)) << at;
  EXPECT_LE(file_.end_of_reads(), kEnd);
}

TEST_F(ReadAheadTest, AWindowStaysAsLongAsItIsHeld) {
  EXPECT_FALSE(read({1, 0}, 1000));
  const auto held = find({told_, {1, 1000}, 1000, kEnd});
  const std::string before(held->at({1, 1000}), 1000);
  for (std::uint32_t at = 2000; at < 2u << 20; at += 1000) EXPECT_TRUE(read({1, at}, 1000));
  EXPECT_EQ(std::string(held->at({1, 1000}), 1000), before);
}

TEST_F(ReadAheadTest, AFileThatIsShorterThanItShouldBeIsLeftToItsReader) {
  const auto shorter = std::make_shared<TellingFile>(50'000);
  EXPECT_FALSE(find({shorter, {1, 0}, 1000, kEnd}));
  EXPECT_FALSE(find({shorter, {1, 1000}, 1000, kEnd}));
}

TEST_F(ReadAheadTest, ThreadsMayReadTogether) {
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (std::uint32_t at = t % 2 * 4000; at + 8000 < 2u << 20; at += 8000)
        read({1 + t / 2, at}, 4000);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace redrive::journal
