#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "base/ids.h"
#include "tests/core/journal/journal_testing.h"

// Crashes at every step and at random ones: synced records survive, surviving records were
// appended, and truncated records never come back.
namespace redrive::journal {
namespace {

using sim::FaultyFiles;

struct Held {
  Location at;
  std::string payload;

  std::uint32_t bytes() const { return static_cast<std::uint32_t>(record_bytes(payload.size())); }
};

// A journal, its owner, and its invariants. Every payload is unique over all restarts, so a record
// of an earlier run that reappears is detected.
class World {
 public:
  explicit World(std::uint64_t seed) : chance_(seed) {}

  FaultyFiles& files() { return files_; }
  bool running() const { return opened_.has_value(); }
  std::uint64_t roll(std::uint64_t sides) { return chance_.bits() % sides; }

  // Opens the journal, which may stop midway, and checks what it replays.
  void start() {
    auto opened = try_open(files_);
    if (!opened) {
      const bool full = full_ && opened.error().code == ErrorCode::storage_full;
      ASSERT_TRUE(full || opened.error().code == ErrorCode::storage_io) << opened.error().message;
      return;
    }
    opened_ = std::move(*opened);
    check_replay();
    if (::testing::Test::HasFatalFailure()) return stop();
    check_held();
  }

  // Either no free space on the disk, or unlimited space.
  void set_full(bool full) {
    full_ = full;
    files_.limit_space(full ? std::optional<std::uint64_t>(0) : std::nullopt);
  }

  void append(std::size_t size) {
    if (!running()) return;
    const std::string payload = numbered(++payloads_, size);
    const Appended at = journal().append(payload);
    records_[at.sequence] = payload;
    if (payloads_ % 5 == 0) {
      held_[at.sequence] = {at.payload, payload};
      journal().hold(at.payload.segment, held_[at.sequence].bytes());
    }
  }

  void sync() {
    if (!running()) return;
    const auto synced = journal().sync_once();
    if (!synced) return stop();
    synced_ = *synced;
  }

  void checkpoint() {
    if (!running()) return;
    const Appended begin = append_checkpoint(journal());
    records_[begin.sequence] = "checkpoint begins";
    records_[begin.sequence + 1] = "checkpoint ends";
    sync();
    if (!running()) return;
    ASSERT_TRUE(journal().set_checkpoint(begin.sequence).has_value());
    checkpoints_.insert(begin.sequence);
  }

  void housekeep() {
    if (!running()) return;
    const auto more = journal().housekeep();
    if (!more) return stop();
    checkpoint_saved_ = *checkpoints_.rbegin();
  }

  void let_go_oldest() {
    if (!running() || held_.empty()) return;
    const auto [sequence, held] = *held_.begin();
    journal().let_go(held.at.segment, held.bytes());
    held_.erase(sequence);
  }

  // Only the process ends: what it wrote is still in the page cache, synced or not.
  void end_process() {
    opened_.reset();
    files_.stop_after(UINT32_MAX);
  }

  void crash() {
    opened_.reset();
    files_.crash(chance_);
    if (!files_.bytes("manifest")) return;  // The first start did not get that far.
    const auto report = check_journal(files_);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    ASSERT_TRUE(report->healthy) << ::testing::PrintToString(report->lines);
  }

 private:
  Journal& journal() { return *opened_->journal; }
  void stop() { opened_.reset(); }

  void check_replay() {
    const Sequence last = opened_->recovered.last_sequence;
    ASSERT_GE(last, synced_) << "something acknowledged is gone";
    ASSERT_EQ(journal().synced(), last);
    // Unsynced records that were not found never existed.
    records_.erase(records_.upper_bound(last), records_.end());
    held_.erase(held_.upper_bound(last), held_.end());
    synced_ = last;

    const auto& replayed = opened_->replayed;
    const Sequence first = replayed.empty() ? last + 1 : replayed.begin()->first;
    ASSERT_TRUE(checkpoints_.contains(first) || first == 1) << first;
    ASSERT_GE(first, checkpoint_saved_);
    // A checkpoint that was set but is not in the manifest is lost.
    checkpoints_.erase(checkpoints_.upper_bound(first), checkpoints_.end());
    const std::map<Sequence, std::string> expected(records_.lower_bound(first), records_.end());
    for (const auto& [sequence, payload] : expected) {
      ASSERT_TRUE(replayed.contains(sequence)) << sequence;
      ASSERT_EQ(replayed.at(sequence), payload) << sequence;
    }
    ASSERT_EQ(replayed.size(), expected.size());
  }

  void check_held() {
    for (const auto& [sequence, held] : held_) {
      journal().hold(held.at.segment, held.bytes());
      std::string out(held.payload.size(), '\0');
      if (!journal().read(held.at, out.size(), out.data())) return stop();
      ASSERT_EQ(out, held.payload);
    }
  }

  SeededIds chance_;
  FaultyFiles files_;
  std::optional<Opened> opened_;
  std::uint64_t payloads_ = 0;
  std::map<Sequence, std::string> records_;
  std::map<Sequence, Held> held_;
  std::set<Sequence> checkpoints_ = {1};
  Sequence synced_ = 0;
  Sequence checkpoint_saved_ = 1;
  bool full_ = false;
};

// Covers every kind of step: rotation, several segments in one sync, checkpoints, recycling.
void script(World& world) {
  world.start();
  world.housekeep();
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t size : {100, 900, 0, 3980, 700, 40}) {
      world.append(size);
      if (size % 3 == 0) world.sync();
    }
    for (int i = 0; i < 5; ++i) world.append(1500);
    world.sync();
    world.checkpoint();
    world.let_go_oldest();
    world.let_go_oldest();
    world.housekeep();
    world.housekeep();
  }
}

TEST(Crash, AtEveryStepOfAScriptKeepsWhatWasSynced) {
  std::uint64_t steps = 0;
  {
    World whole(0);
    script(whole);
    steps = whole.files().operations();
  }
  ASSERT_GT(steps, 100u);
  for (std::uint64_t stop = 0; stop <= steps; ++stop) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(testing::Message() << "stopped after " << stop << ", seed " << seed);
      World world(stop * 100 + seed);
      world.files().stop_after(stop);
      script(world);
      world.crash();
      script(world);
      ASSERT_TRUE(world.running());
      world.crash();
      world.start();
      if (HasFailure()) return;
    }
  }
}

void random_step(World& world) {
  switch (world.roll(10)) {
    case 0:
      return world.checkpoint();
    case 1:
      return world.housekeep();
    case 2:
      return world.let_go_oldest();
    case 3:
    case 4:
      return world.sync();
    default:
      return world.append(world.roll(4) == 0 ? world.roll(3980) : world.roll(200));
  }
}

// Torn ends, restarts, new records with the old ones' sequences, and again.
TEST(Crash, AtRandomTimesAgainAndAgainKeepsWhatWasSynced) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    World world(seed);
    for (int life = 0; life < 12; ++life) {
      world.files().stop_after(world.roll(60));
      world.start();
      for (int step = 0; step < 60 && world.running(); ++step) random_step(world);
      world.roll(3) == 0 ? world.end_process() : world.crash();
      if (HasFatalFailure()) return;
    }
    world.start();
    ASSERT_TRUE(world.running());
  }
}

// A start on a full disk continues in the last segment, over a torn end, and the next segment
// reuses a spare that may contain records with its very number.
TEST(Crash, OnAFullDiskAgainAndAgainKeepsWhatWasSynced) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    World world(seed);
    world.start();
    for (int i = 0; i < 3; ++i) world.housekeep();
    for (int life = 0; life < 12; ++life) {
      world.set_full(world.roll(4) != 0);
      world.files().stop_after(world.roll(60));
      world.start();
      for (int step = 0; step < 30 && world.running(); ++step) random_step(world);
      world.roll(3) == 0 ? world.end_process() : world.crash();
      if (HasFatalFailure()) return;
    }
    world.set_full(false);
    world.start();
    ASSERT_TRUE(world.running());
  }
}

// Like ARecordBehindATearNeverComesBack on a full disk, where new records go into the torn segment
// itself.
TEST(Crash, ARecordBehindATearDoesNotComeBackOnAFullDiskEither) {
  FaultyFiles files;
  std::map<Sequence, Location> at;
  {
    auto opened = must_open(files);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      at[i] = opened.journal->append(numbered(i, 1000)).payload;
      if (i != 2) must_sync(*opened.journal);
    }
  }
  files.flip_bit("0000000001.seg", at[2].offset + 3, 0);
  files.limit_space(0);
  {
    auto opened = must_open(files);
    ASSERT_EQ(opened.replayed.size(), 1u);
    const Appended again = opened.journal->append(numbered(20, 1000));
    EXPECT_EQ(again.sequence, 2u);
    EXPECT_EQ(again.payload, at[2]);
    must_sync(*opened.journal);
  }
  SeededIds chance(1);
  files.crash(chance);
  const auto opened = must_open(files);
  EXPECT_EQ(opened.replayed,
            (std::map<Sequence, std::string>{{1, numbered(1, 1000)}, {2, numbered(20, 1000)}}));
}

// The previous run filled a spare as segment 2 and crashed before renaming it. On a full disk this
// run continues in segment 1, and its segment 2 goes into that spare.
TEST(Crash, ASpareWithRecordsOfTheSameNumberIsOverwrittenOnAFullDisk) {
  FaultyFiles files;
  SeededIds chance(7);
  {
    auto opened = must_open(files);
    must_housekeep(*opened.journal);
    opened.journal->append(numbered(1, 1000));
    must_sync(*opened.journal);
    opened.journal->append(numbered(2, 3500));
    for (std::uint64_t i = 3; i <= 4; ++i) opened.journal->append(numbered(i, 100));
    files.stop_after(2);  // Written and synced.
    ASSERT_FALSE(opened.journal->sync_once().has_value());
  }
  files.crash(chance);
  files.limit_space(0);
  {
    auto opened = must_open(files);
    ASSERT_EQ(opened.recovered.last_sequence, 1u);
    opened.journal->append(numbered(20, 3500));  // As long as the lost record 2.
    must_sync(*opened.journal);
  }
  files.crash(chance);
  EXPECT_EQ(must_open(files).recovered.last_sequence, 2u);
}

// A record that was written but not synced may be found by the next run. From then on it counts.
TEST(Crash, WhatAStartHasReplayedIsDurable) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    FaultyFiles files;
    {
      auto opened = must_open(files);
      opened.journal->append("written");
      files.stop_after(1);
      ASSERT_FALSE(opened.journal->sync_once().has_value());
    }
    files.stop_after(UINT32_MAX);
    ASSERT_EQ(must_open(files).recovered.last_sequence, 1u);
    SeededIds chance(seed);
    files.crash(chance);
    EXPECT_EQ(must_open(files).recovered.last_sequence, 1u);
  }
}

// Interrupts a start after a killed run: renames of the killed run that were not synced must be
// durable before the start renames or overwrites anything.
void start_and_lose_power(FaultyFiles& files, std::uint64_t operations, std::uint64_t seed) {
  files.stop_after(operations);
  (void)try_open(files);
  SeededIds chance(seed);
  files.crash(chance);
}

// The name of segment 2 was never synced. If segment 3 were named first, a power loss could leave 3
// without 2.
TEST(Crash, NamesAreDurableBeforeAStartNamesAnotherSegment) {
  for (std::uint64_t operations = 0; operations < 10; ++operations) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      FaultyFiles files;
      {
        auto opened = must_open(files);
        opened.journal->append(numbered(1, 3980));
        must_sync(*opened.journal);
        opened.journal->append(numbered(2, 1000));
        files.stop_after(5);  // Created, reserved, written, synced and renamed.
        ASSERT_FALSE(opened.journal->sync_once().has_value());
        ASSERT_TRUE(files.bytes("0000000002.seg").has_value());
      }
      start_and_lose_power(files, operations, seed);
      const auto opened = try_open(files);
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      EXPECT_GE(opened->recovered.last_sequence, 1u);
    }
  }
}

// Segment 1 became a spare, which was never synced. On a full disk the start overwrites the spare,
// and a power loss could bring the old name back with zeros as its content.
TEST(Crash, NamesAreDurableBeforeAStartOverwritesASpare) {
  for (std::uint64_t operations = 0; operations < 10; ++operations) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      FaultyFiles files;
      {
        auto opened = must_open(files);
        for (std::uint64_t i = 1; i <= 2; ++i) opened.journal->append(numbered(i, 3980));
        const Appended begun = append_checkpoint(*opened.journal);
        opened.journal->append(numbered(3, 3600));
        must_sync(*opened.journal);
        ASSERT_TRUE(opened.journal->set_checkpoint(begun.sequence).has_value());
        files.limit_space(0);
        files.stop_after(7);  // Five for the manifest, and two renames.
        ASSERT_FALSE(opened.journal->housekeep().has_value());
        ASSERT_FALSE(files.bytes("0000000001.seg").has_value());
      }
      start_and_lose_power(files, operations, seed);
      files.limit_space(std::nullopt);
      const auto opened = try_open(files);
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
    }
  }
}

// The writer fills a spare and renames it afterwards. If it crashes in between, the spare contains
// intact records with the number that the next run continues with.
TEST(Crash, RecordsInASegmentThatNeverGotItsNameDoNotComeBack) {
  FaultyFiles files;
  SeededIds chance(7);
  {
    auto opened = must_open(files);
    must_housekeep(*opened.journal);
    opened.journal->append(numbered(1, 3980));
    must_sync(*opened.journal);
    for (std::uint64_t i = 2; i <= 4; ++i) opened.journal->append(numbered(i, 1000));
    files.stop_after(2);  // Written and synced.
    ASSERT_FALSE(opened.journal->sync_once().has_value());
  }
  files.crash(chance);
  {
    auto opened = must_open(files);
    ASSERT_EQ(opened.recovered.last_sequence, 1u);
    opened.journal->append(numbered(20, 1000));  // Exactly as long as the lost record 2.
    must_sync(*opened.journal);
  }
  files.crash(chance);
  EXPECT_EQ(must_open(files).recovered.last_sequence, 2u);
}

// Record 2 is torn, record 3 after it is intact. After the restart a new record 2 takes exactly the
// place of the old, so that the old record 3 would follow it.
TEST(Crash, ARecordBehindATearNeverComesBack) {
  FaultyFiles files;
  std::map<Sequence, Location> at;
  {
    auto opened = must_open(files);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      at[i] = opened.journal->append(numbered(i, 1000)).payload;
      if (i != 2) must_sync(*opened.journal);
    }
  }
  ASSERT_EQ(at[3].segment, 1u);
  files.flip_bit("0000000001.seg", at[2].offset + 3, 0);
  {
    auto opened = must_open(files);
    ASSERT_EQ(opened.replayed.size(), 1u);
    EXPECT_NE(opened.recovered.truncated, "");
    EXPECT_EQ(opened.journal->append(numbered(20, 1000)).sequence, 2u);
    must_sync(*opened.journal);
  }
  SeededIds chance(1);
  files.crash(chance);
  const auto opened = must_open(files);
  EXPECT_EQ(opened.replayed,
            (std::map<Sequence, std::string>{{1, numbered(1, 1000)}, {2, numbered(20, 1000)}}));
}

}  // namespace
}  // namespace redrive::journal
