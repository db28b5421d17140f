#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/journal/format.h"
#include "core/journal/journal.h"
#include "sim/faulty_files.h"

// Helpers shared by the journal's tests.
namespace redrive::journal {

// Small segments, so that a test uses many; no cache except the chunk being filled.
inline constexpr Options kSmall{
    .segment_bytes = 4096, .tail_cache_bytes = 0, .spare_segments = 2, .recycled_segments_max = 0};

// A journal opened for a test, with everything it replayed.
struct Opened {
  std::unique_ptr<Journal> journal;
  std::map<Sequence, std::string> replayed;
  std::map<Sequence, Location> locations;
  Recovered recovered;
};

inline Result<Opened> try_open(Files& files, const Options& options = kSmall) {
  Opened opened;
  const auto replay = [&](Sequence sequence, Location at, std::string_view payload) {
    EXPECT_TRUE(opened.replayed.emplace(sequence, payload).second);
    opened.locations.emplace(sequence, at);
    return Result<void>();
  };
  opened.journal = TRY(open_journal(files, options, replay, opened.recovered));
  return opened;
}

inline Opened must_open(Files& files, const Options& options = kSmall) {
  auto opened = try_open(files, options);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  if (!opened) std::abort();
  return std::move(*opened);
}

inline Sequence must_sync(Journal& journal) {
  const auto synced = journal.sync_once();
  EXPECT_TRUE(synced.has_value()) << synced.error().message;
  return synced.value_or(0);
}

// Runs all pending housekeeping.
inline void must_housekeep(Journal& journal) {
  for (int i = 0; i < 1000; ++i) {
    const auto more = journal.housekeep();
    ASSERT_TRUE(more.has_value()) << more.error().message;
    if (!*more) return;
  }
  FAIL() << "the chores do not end";
}

inline Appended append_checkpoint(Journal& journal) {
  const std::string_view begin = "checkpoint begins";
  const std::string_view end = "checkpoint ends";
  const Appended first = journal.append_checkpoint_begin(std::span(&begin, 1));
  journal.append_checkpoint_end(std::span(&end, 1));
  return first;
}

inline std::string must_read(Journal& journal, Location at, std::size_t size) {
  std::string out(size, '\0');
  const auto read = journal.read(at, size, out.data());
  EXPECT_TRUE(read.has_value()) << read.error().message;
  return out;
}

// A payload that identifies its record and does not repeat a single byte.
inline std::string numbered(std::uint64_t number, std::size_t size) {
  std::string out = "record " + std::to_string(number) + " ";
  while (out.size() < size) out.push_back(static_cast<char>('a' + (out.size() * 7 + number) % 26));
  out.resize(size);
  return out;
}

inline std::vector<std::uint32_t> segment_numbers(const Journal& journal) {
  std::vector<std::uint32_t> out;
  for (const auto& use : journal.usage()) out.push_back(use.segment);
  return out;
}

}  // namespace redrive::journal
