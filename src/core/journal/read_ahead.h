#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/workers.h"
#include "core/journal/journal.h"
#include "core/journal/pages.h"

namespace redrive::journal {

// Detects sequential reads, such as those of a long queue's messages, and serves them from
// increasingly large windows read ahead of the reader, bypassing the page cache: reading a window
// costs little more than reading a piece. Random reads are left to the caller.
//
// The ten messages of a FIFO group are as far apart as there are groups, with the next group's
// messages behind each of them: that is ten interleaved sequential readers, or, with few groups,
// one that jumps back and forth. So windows are shared: a window is kept as long as any reader uses
// it, and the first reader that nears its end triggers the next one.
//
// Only for immutable bytes. Thread-safe.
class ReadAhead {
 public:
  // A range of a segment in memory.
  struct Window {
    Location from;
    std::uint32_t size = 0;
    Pages pages;

    bool has(Location place, std::uint32_t bytes) const {
      return place.segment == from.segment && place.offset >= from.offset &&
             place.offset - from.offset + std::uint64_t{bytes} <= size;
    }
    const char* at(Location place) const { return pages.data() + (place.offset - from.offset); }
  };

  // A read request: `bytes` of a segment starting at `from`. The first `end` bytes of the segment
  // are immutable.
  struct Piece {
    std::shared_ptr<File> file;
    Location from;
    std::uint32_t bytes = 0;
    std::uint32_t end = 0;
    std::shared_ptr<const Window> window = nullptr;  // Valid as long as it is referenced.
  };

  // Finds the window that contains each piece. Null if the access is not sequential, the piece does
  // not fit in a window or may still change, or there are too many concurrent readers.
  Result<void> find(std::span<Piece> pieces);

 private:
  using Held = std::shared_ptr<Window>;
  // Windows are large and follow one another, so their memory is reused.
  struct Pool {
    Mutex mutex;  // The innermost lock.
    std::vector<std::unique_ptr<Window>> free GUARDED_BY(mutex);
  };
  // The position of a sequential reader.
  struct Reader {
    Location next;           // Just past the last read. Segment 0: unused.
    std::uint32_t step = 0;  // Intended size of the last window.
    std::uint64_t used = 0;  // Logical time of the last read.

    bool would_read(Location from) const;
    void note(Location behind, std::uint64_t now);
  };
  struct Kept {
    Held window;
    Reader reader;  // The furthest of all readers of the window.
    bool is_followed = false;

    bool is_near(Location place) const;
    bool is_unread() const { return reader.next == window->from; }
  };

  std::size_t find_ready(std::span<Piece> pieces);
  Result<Held> find_or_read(const Piece& piece);

  // Called with mutex_ held.
  Held use_window(const Piece& piece) REQUIRES(mutex_);
  Kept* window_with(Location from, std::uint32_t bytes) REQUIRES(mutex_);
  std::uint32_t next_step(Location from, std::uint32_t bytes) REQUIRES(mutex_);
  std::uint32_t end_before_others(Location from, std::uint32_t end) const REQUIRES(mutex_);
  bool evict_idle() REQUIRES(mutex_);
  bool is_idle(const Kept& kept) const REQUIRES(mutex_);
  void follow(Kept& kept, const std::shared_ptr<File>& file, std::uint32_t end) REQUIRES(mutex_);
  void keep(Held window, Reader reader) REQUIRES(mutex_);

  Held plan_window(Location from, std::uint32_t step, std::uint32_t end) const;

  static constexpr std::size_t kReadersMax = 64;
  Mutex mutex_;
  std::vector<Kept> windows_ GUARDED_BY(mutex_);
  std::size_t coming_ GUARDED_BY(mutex_) = 0;  // Requested, but not in windows_ yet.
  std::array<Reader, kReadersMax> unserved_readers_
      GUARDED_BY(mutex_);  // Readers without a window.
  std::uint64_t uses_ GUARDED_BY(mutex_) = 0;

  const std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
  Workers workers_{1};  // Last member, so that it stops before the data it uses is destroyed.
};

}  // namespace redrive::journal
