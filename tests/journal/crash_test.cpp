#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "base/ids.h"
#include "tests/journal/journal_testing.h"

// Crashes at every step and at random ones: what was synced is there, what is there was appended,
// and nothing that was cut off ever comes back.
namespace redrive::journal {
namespace {

using sim::FaultyFiles;

struct Held {
  Location at;
  std::string payload;

  std::uint32_t bytes() const { return static_cast<std::uint32_t>(record_bytes(payload.size())); }
};

// A journal, its owner, and what must be true. Every payload is unique over all restarts, so a
// record of an earlier run that reappears is recognised.
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

  // Not a byte is left on the disk, or space without end.
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

  // Only the process ends: what it wrote is still in the kernel's memory, synced or not.
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
    // Unsynced records that were not found have never been.
    records_.erase(records_.upper_bound(last), records_.end());
    held_.erase(held_.upper_bound(last), held_.end());
    synced_ = last;

    const auto& replayed = opened_->replayed;
    const Sequence first = replayed.empty() ? last + 1 : replayed.begin()->first;
    ASSERT_TRUE(checkpoints_.contains(first) || first == 1) << first;
    ASSERT_GE(first, checkpoint_saved_);
    // A checkpoint that was set and did not get into the manifest is forgotten.
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

// Passes every kind of step: rotation, several segments in one sync, checkpoints, recycling.
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

// Torn ends, restarts, new records over the old ones' sequences, and again.
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

// A start on a full disk goes on in the last segment, over what a torn end left there, and the next
// segment goes into a spare that may hold records under its very number.
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

// The same as below on a full disk, where the new records go into the very segment that is torn.
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

// The run before filled a spare as segment 2 and crashed before it got that name. On a full disk
// this run goes on in segment 1, and its segment 2 goes into that spare.
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
    opened.journal->append(numbered(20, 3500));  // As long as the record 2 that never was.
    must_sync(*opened.journal);
  }
  files.crash(chance);
  EXPECT_EQ(must_open(files).recovered.last_sequence, 2u);
}

// A record that was written and not synced may be found by the next run. From then on it counts.
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

// The writer fills a spare and gives it its name afterwards. If it crashes in between, the spare
// holds whole records under the very number the next run goes on with.
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
    opened.journal->append(numbered(20, 1000));  // Exactly as long as the record 2 that never was.
    must_sync(*opened.journal);
  }
  files.crash(chance);
  EXPECT_EQ(must_open(files).recovered.last_sequence, 2u);
}

// The particular case: record 2 is torn, record 3 behind it is whole. After the restart a new
// record 2 takes exactly the place of the old, so that an old record 3 would follow it.
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
