#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "journal/files.h"
#include "journal/segment_table.h"

namespace redrive::journal {

// Segment files kept ready: so that a new segment costs a rename and not an allocation, and so that
// there is something left to write to when the disk is full.
//
// A spare is known by its name alone; what it holds is of no interest, because record checksums are
// seeded with the segment's number. Its space is its own from the start (File::reserve). Writing
// zeros over it comes later, when there is time: it spares later syncs the file system's
// bookkeeping of space written for the first time.
//
// Used by one thread at a time; count() by any.
class Spares {
 public:
  // `names`: the spares found in the directory. Those of another size are removed in time.
  Spares(Files& files, std::uint32_t segment_bytes, const std::vector<std::string>& names);

  struct Taken {
    std::unique_ptr<File> file;
    std::string name;  // It is the caller's to rename.
    std::uint32_t filled = 0;
    bool reserved = true;
  };
  // The best spare, or a new file when there is none; `reserved` is false when that one's space
  // could not be had in advance.
  Result<Taken> take();
  // A new file in any case, if need be in the space of a spare. For the segment a journal goes on
  // in after a start: the run before may have written that very segment into a spare and crashed
  // before it got its name, and then the spare's old records would pass for new ones. Later
  // segments have numbers no earlier run came to.
  Result<Taken> take_new();

  // Turns segments nobody needs into spares, up to `target` of them, and removes the rest. Their
  // old names are durably gone when it returns.
  Result<void> recycle(const std::vector<Segment>& segments, std::uint32_t target);

  // Moves one spare towards the target: makes one, or removes one too many. True when another call
  // has more to do; storage_full when there is no space.
  Result<bool> prepare(std::uint32_t target);

  // Writes some zeros over a spare that still needs it; true when there is more to write.
  Result<bool> fill_some();

  // Gives up one spare for the sake of something small that needs the space more.
  Result<void> sacrifice();

  std::uint32_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Spare {
    std::string name;
    std::uint32_t filled = 0;
  };

  std::string next_name();
  Result<Taken> create();
  void add(Spare spare);
  Result<void> remove_last();
  Result<void> remove_misfits();

  Files& files_;
  const std::uint32_t segment_bytes_;
  std::uint32_t next_number_ = 0;
  std::vector<Spare> spares_;
  std::vector<std::string> misfits_;  // Left by a crash or by another segment size.
  std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace redrive::journal
