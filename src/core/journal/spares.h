#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "core/journal/files.h"
#include "core/journal/journal.h"
#include "core/journal/segment_table.h"

namespace redrive::journal {

// Segment files prepared in advance: a new segment then costs a rename instead of an allocation,
// and there is space to write to when the disk is full.
//
// A spare is identified by its name alone; its content does not matter, because record checksums
// are seeded with the segment number. Its space is allocated from the start (File::reserve). It is
// filled with zeros later, when there is time, which saves later syncs the file system's metadata
// updates for first-time writes.
//
// For one thread at a time, except fill_some(), which may run concurrently, and count().
class Spares {
 public:
  // `names`: the spares found in the directory. Spares of another size are removed later, by
  // prepare().
  Spares(Files& files, const Options& options, const std::vector<std::string>& names);

  struct Taken {
    std::unique_ptr<File> file;
    std::string name;  // The caller must rename it.
    std::uint32_t filled = 0;
    bool reserved = true;
  };
  // The best spare, or a new file if there is none; `reserved` is false if the new file's space
  // could not be allocated in advance.
  Result<Taken> take();
  // A file without old records: a new one, or on a full disk a spare overwritten with zeros. Needed
  // for the first segment with a number that an earlier run may have reached: that run may have
  // written this very segment into a spare and crashed before renaming it, and the spare's old
  // records would pass for new ones.
  Result<Taken> take_new();
  // A new file with reserved space, or storage_full; takes no spare. Frees the space of incomplete
  // files left by a crash if necessary.
  Result<Taken> create_reserved();
  // Makes the next take() return a file without old records, like take_new(). Called when a journal
  // continues in its last segment, so that the next segment's number may have been used before.
  void require_clean_next() { clean_next_ = true; }

  // Turns free segments into spares and removes those in excess. Their old names are durably gone
  // on return.
  Result<void> recycle(const std::vector<Segment>& segments, std::uint32_t target);

  // Creates a spare if there are fewer than `target`, or removes one in excess. Returns true if
  // there is more to do; storage_full if there is no space.
  Result<bool> prepare(std::uint32_t target);

  // Writes some zeros to a spare that still needs them; returns true if there is more to write. A
  // concurrent take() chooses another spare, and waits only if this is the last.
  Result<bool> fill_some();

  // Removes one spare to free space for something small and more important.
  Result<void> sacrifice();

  std::uint32_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Spare {
    std::string name;
    std::uint32_t filled = 0;
    bool in_hand = false;  // Being filled; not available.
  };
  using List = std::vector<Spare>;

  std::string next_name();
  Result<Taken> create();
  Result<Taken> take_any();
  Result<void> overwrite(File& file) const;
  void add(Spare spare);
  void erase(List::iterator spare) REQUIRES(mutex_);
  std::size_t size() const;
  // Maximum number of spares. Recycled ones are kept beyond the target: they have already been
  // written to, which saves filling new ones when a backlog comes and goes.
  std::uint32_t most(std::uint32_t target) const { return std::max(target, recycled_max_); }
  // Chooses a spare that is not being filled, waiting for it if necessary; end() if there is none.
  enum class Wanted : std::uint8_t { fullest, emptiest };
  List::iterator choose(Wanted wanted) REQUIRES(mutex_);
  Result<void> remove_one();
  Result<void> remove_misfits();

  Files& files_;
  const std::uint32_t segment_bytes_;
  const std::uint32_t recycled_max_;
  std::uint32_t next_number_ = 0;
  mutable Mutex mutex_;
  ConditionVariable let_go_;
  List spares_ GUARDED_BY(mutex_);
  std::vector<std::string> misfits_;  // Left by a crash, or of another segment size.
  bool clean_next_ = false;
  std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace redrive::journal
