#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/base/eventually.h"
#include "tests/core/journal/journal_testing.h"

namespace redrive::journal {
namespace {

using sim::FaultyFiles;

// Lets a test wait for the sync thread.
class Progress {
 public:
  void reach(Sequence sequence) {
    const std::lock_guard lock(mutex_);
    reached_ = sequence;
    ++calls_;
    changed_.notify_all();
  }
  void wait_for(Sequence sequence) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= sequence; });
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Sequence reached_ = 0;
  int calls_ = 0;
};

TEST(SyncThread, SyncsOnRequest) {
  FaultyFiles files;
  auto opened = must_open(files);
  Progress progress;
  SyncThread thread(*opened.journal, {.on_synced = [&](Sequence s) { progress.reach(s); }});
  for (Sequence i = 1; i <= 20; ++i) {
    opened.journal->append("x");
    thread.request();
    progress.wait_for(i);
    EXPECT_GE(opened.journal->synced(), i);
  }
  EXPECT_LE(progress.calls(), 20);
}

TEST(SyncThread, SyncsTheRestBeforeItEnds) {
  FaultyFiles files;
  {
    auto opened = must_open(files);
    SyncThread thread(*opened.journal, {});
    opened.journal->append("never asked for");
  }
  EXPECT_EQ(must_open(files).replayed.size(), 1u);
}

TEST(SyncThread, ReportsAFailureOnce) {
  FaultyFiles files;
  auto opened = must_open(files);
  files.stop_after(0);
  std::atomic<int> failures = 0;
  Progress failed;
  {
    SyncThread thread(*opened.journal, {.on_synced = {}, .on_failure = [&](const Error& error) {
                                          EXPECT_EQ(error.code, ErrorCode::storage_io);
                                          ++failures;
                                          failed.reach(1);
                                        }});
    opened.journal->append("lost");
    thread.request();
    failed.wait_for(1);
  }
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(opened.journal->synced(), 0u);
}

// If the disk is quick, as it usually is here.
TEST(SyncThread, AnIdleCallerSyncsItself) {
  FaultyFiles files;
  auto opened = must_open(files);
  Progress progress;
  std::atomic<int> mine = 0;
  const auto here = std::this_thread::get_id();
  SyncThread thread(*opened.journal, {.on_synced = [&](Sequence s) {
    if (std::this_thread::get_id() == here) ++mine;
    progress.reach(s);
  }});
  for (Sequence i = 1; mine < 10; ++i) {
    opened.journal->append("x");
    thread.sync_here();
    progress.wait_for(i);
    EXPECT_GE(opened.journal->synced(), i);
  }
}

TEST(SyncThread, AcceptsConcurrentSyncs) {
  FaultyFiles files;
  Options options = kSmall;
  options.segment_bytes = 64u << 10;
  auto opened = must_open(files, options);
  Progress progress;
  std::mutex turn;
  {
    SyncThread thread(*opened.journal, {.on_synced = [&](Sequence s) { progress.reach(s); }});
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        for (int k = 0; k < 500; ++k) {
          Sequence mine = 0;
          {
            const std::lock_guard lock(turn);
            mine = opened.journal->append(numbered(7, 300)).sequence;
          }
          thread.sync_here();
          progress.wait_for(mine);
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
  EXPECT_EQ(must_open(files, options).replayed.size(), 2000u);
}

// Spares are used up and replaced while syncs follow one another.
TEST(SyncThread, RunsHousekeeping) {
  FaultyFiles files;
  auto opened = must_open(files);
  SyncThread thread(*opened.journal, {});
  EXPECT_TRUE(eventually([&] { return opened.journal->totals().spares >= 2; }));
  EXPECT_TRUE(opened.journal->has_room());
}

struct Published {
  std::mutex mutex;
  std::vector<std::pair<Location, std::string>> records;
};

// Readers read random records, old and new, while other threads append, sync and recycle.
void read_at_random(Journal& journal, Published& published, std::uint64_t seed,
                    const std::atomic<bool>& done) {
  SeededIds chance(seed);
  while (!done) {
    std::pair<Location, std::string> record;
    {
      const std::lock_guard lock(published.mutex);
      if (published.records.empty()) continue;
      record = published.records[chance.bits() % published.records.size()];
    }
    std::string out(record.second.size(), '\0');
    ASSERT_TRUE(journal.read(record.first, out.size(), out.data()).has_value());
    ASSERT_EQ(out, record.second);
  }
}

TEST(SyncThread, ReadersSeeWholeRecordsWhileOthersWrite) {
  FaultyFiles files;
  Options options = kSmall;
  options.segment_bytes = 64u << 10;
  auto opened = must_open(files, options);
  Journal& journal = *opened.journal;
  Progress progress;
  Published published;
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  {
    SyncThread thread(journal, {.on_synced = [&](Sequence s) { progress.reach(s); }});
    for (std::uint64_t i = 0; i < 3; ++i) {
      readers.emplace_back([&, i] { read_at_random(journal, published, i, done); });
    }
    for (std::uint64_t i = 0; i < 3000; ++i) {
      std::string payload = numbered(i, 20 + i * 37 % 1500);
      const Appended appended = journal.append(payload);
      if (i % 4 == 0) {
        journal.pin(appended.payload.segment);
        const std::lock_guard lock(published.mutex);
        published.records.emplace_back(appended.payload, std::move(payload));
      }
      thread.request();
      if (i % 500 == 499) {
        const Appended begin = append_checkpoint(journal);
        thread.request();
        progress.wait_for(begin.sequence + 1);
        ASSERT_TRUE(journal.set_checkpoint(begin.sequence).has_value());
      }
    }
    done = true;
    for (std::thread& reader : readers) reader.join();
  }
  EXPECT_EQ(journal.synced(), journal.appended());
  for (const auto& [place, payload] : published.records) journal.unpin(place.segment);
  must_housekeep(journal);
  EXPECT_LE(journal.totals().segments, 2u);
}

TEST(SyncThread, WorksWithAJournalInMemory) {
  const auto journal = memory_journal(kSmall);
  Progress progress;
  SyncThread thread(*journal, {.on_synced = [&](Sequence s) { progress.reach(s); }});
  journal->append("x");
  thread.request();
  progress.wait_for(1);
}

}  // namespace
}  // namespace redrive::journal
