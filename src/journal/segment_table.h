#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "journal/files.h"
#include "journal/journal.h"

namespace redrive::journal {

// One segment that is not a spare.
struct Segment {
  std::uint32_t number = 0;
  std::uint32_t bytes = 0;  // Its size, as its header has it.
  std::uint32_t used = 0;   // Up to the end of its last record.
  std::uint64_t held = 0;
  std::uint32_t pins = 0;
  Sequence free_after = 0;     // Not before this record is durable; see Journal::let_go.
  std::uint32_t filled = 0;    // How far the file has been written in this or a former life.
  std::shared_ptr<File> file;  // Null until it is first needed.
};

// The segments of a journal by number, and who needs them.
//
// Numbers only grow. From the checkpoint's segment on there are no gaps; before it every segment
// lives only as long as somebody holds or pins it. Not locked: the journal's mutex guards it.
class SegmentTable {
 public:
  Segment& add(Segment segment);  // Its number is larger than all others.
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
  // Lets the segment's open file go, if it has one.
  void close(std::uint32_t number) { at(number).file.reset(); }

  // Takes out the oldest segment below `number` that nobody needs, not even after a crash, if there
  // is one.
  std::optional<Segment> take_free_below(std::uint32_t number, Sequence synced);

  // `checkpoint` and `active` are segment numbers.
  std::vector<Journal::SegmentUse> usage(std::uint32_t checkpoint, std::uint32_t active) const;

 private:
  std::uint32_t first_ = 0;  // The number of slots_[0].
  std::uint32_t count_ = 0;
  std::deque<std::optional<Segment>> slots_;  // The first and the last are never empty.
};

}  // namespace redrive::journal
