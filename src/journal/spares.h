#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "journal/files.h"
#include "journal/journal.h"
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
// Used by one thread at a time, but for fill_some(), which another may call meanwhile, and count().
class Spares {
 public:
  // `names`: the spares found in the directory. Those of another size are removed in time.
  Spares(Files& files, const Options& options, const std::vector<std::string>& names);

  struct Taken {
    std::unique_ptr<File> file;
    std::string name;  // It is the caller's to rename.
    std::uint32_t filled = 0;
    bool reserved = true;
  };
  // The best spare, or a new file when there is none; `reserved` is false when that one's space
  // could not be had in advance.
  Result<Taken> take();
  // A file without any old record: a new one, or on a full disk a spare overwritten with zeros. For
  // the first segment with a number that an earlier run may have reached: that run may have written
  // this very segment into a spare and crashed before it got its name, and then the spare's old
  // records would pass for new ones.
  Result<Taken> take_new();
  // A new file with its space reserved, or storage_full; spares are left alone. Files that a crash
  // left half made give their space for it.
  Result<Taken> create_reserved();
  // The next take() gives a file without any old record, as take_new() does. Called when a journal
  // goes on in the segment it ended in, so that the next segment's number is not new.
  void require_clean_next() { clean_next_ = true; }

  // Turns segments nobody needs into spares, and removes those that would be too many. Their old
  // names are durably gone when it returns.
  Result<void> recycle(const std::vector<Segment>& segments, std::uint32_t target);

  // Makes a spare if there are fewer than `target`, or removes one too many. True when another call
  // has more to do; storage_full when there is no space.
  Result<bool> prepare(std::uint32_t target);

  // Writes some zeros over a spare that still needs it; true when there is more to write. Whoever
  // takes one meanwhile takes another, and waits only if this is the last.
  Result<bool> fill_some();

  // Gives up one spare for the sake of something small that needs the space more.
  Result<void> sacrifice();

  std::uint32_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Spare {
    std::string name;
    std::uint32_t filled = 0;
    bool in_hand = false;  // Being filled: nobody else's for now.
  };
  using List = std::vector<Spare>;

  std::string next_name();
  Result<Taken> create();
  Result<Taken> take_any();
  Result<void> overwrite(File& file) const;
  void add(Spare spare);
  void erase(List::iterator spare);
  std::size_t size() const;
  // As many as there may be. Recycled ones stay beyond the target: they have been written to, and
  // where a backlog comes and goes they save the zeros for new ones.
  std::uint32_t most(std::uint32_t target) const { return std::max(target, recycled_max_); }
  // One that is not in hand, if need be after waiting for it; end() when there is none at all.
  enum class Wanted : std::uint8_t { fullest, emptiest };
  List::iterator choose(Wanted wanted, std::unique_lock<std::mutex>& lock);
  Result<void> remove_one();
  Result<void> remove_misfits();

  Files& files_;
  const std::uint32_t segment_bytes_;
  const std::uint32_t recycled_max_;
  std::uint32_t next_number_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable let_go_;
  List spares_;                       // Guarded by mutex_.
  std::vector<std::string> misfits_;  // Left by a crash or by another segment size.
  bool clean_next_ = false;
  std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace redrive::journal
