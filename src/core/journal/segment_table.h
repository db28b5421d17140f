#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core/journal/files.h"
#include "core/journal/journal.h"

namespace redrive::journal {

// One segment that is not a spare.
struct Segment {
  std::uint32_t number = 0;
  std::uint32_t bytes = 0;  // Size according to its header.
  std::uint32_t used = 0;   // End of its last record.
  std::uint64_t held = 0;
  std::uint32_t pins = 0;
  Sequence free_after = 0;  // Recycle only after this record is durable; see Journal::let_go.
  // How far the file has ever been written, including before it was recycled.
  std::uint32_t filled = 0;
  std::shared_ptr<File> file;  // Null until first needed.
};

// The segments of a journal by number, with their reference counts.
//
// Numbers only grow. From the checkpoint's segment on there are no gaps; earlier segments exist
// only while they are held or pinned. Not thread-safe: guarded by the journal's mutex.
class SegmentTable {
 public:
  Segment& add(Segment segment);  // Its number must be larger than all others.
  Segment remove_last();
  Segment& at(std::uint32_t number);
  bool has(std::uint32_t number) const;
  Segment& last() { return *slots_.back(); }
  std::uint32_t last_number() const { return slots_.back()->number; }
  std::uint32_t count() const { return count_; }

  void hold(std::uint32_t number, std::uint64_t bytes);
  void let_go(std::uint32_t number, std::uint64_t bytes, Sequence free_after);
  void pin(std::uint32_t number);
  void unpin(std::uint32_t number);
  // Drops the segment's open file, if any.
  void close(std::uint32_t number) { at(number).file.reset(); }

  // Removes and returns the oldest segment below `number` that is not needed, not even after a
  // crash.
  std::optional<Segment> take_free_below(std::uint32_t number, Sequence synced);

  // `checkpoint` and `active` are segment numbers.
  std::vector<Journal::SegmentUse> usage(std::uint32_t checkpoint, std::uint32_t active) const;

 private:
  std::uint32_t first_ = 0;  // Number of slots_[0].
  std::uint32_t count_ = 0;
  std::deque<std::optional<Segment>> slots_;  // The first and the last are never empty.
};

}  // namespace redrive::journal
