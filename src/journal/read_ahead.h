#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/workers.h"
#include "journal/journal.h"
#include "journal/pages.h"

namespace redrive::journal {

// What is read piece by piece, one after the other, as the messages of a long queue are, comes in
// ever larger windows past the system's cache: a window costs hardly more than a piece. What is
// read here and there is left to its reader.
//
// Ten messages of a FIFO group lie as far apart as there are groups, and those of the next group
// lie behind each of them: that is ten who read one after the other, or, of few groups, one who
// goes to and fro. So a window belongs to nobody: it is kept for as long as anybody reads from it,
// and whoever comes to its end makes the next one.
//
// For what does not change any more. Members may be called from any thread.
class ReadAhead {
 public:
  // A stretch of a segment in memory.
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

  // What somebody wants to read: `bytes` of a segment from `from` on. The first `end` bytes of the
  // segment do not change any more.
  struct Piece {
    std::shared_ptr<File> file;
    Location from;
    std::uint32_t bytes = 0;
    std::uint32_t end = 0;
    std::shared_ptr<const Window> window = nullptr;  // Good for as long as it is held.
  };

  // Finds the window that holds each piece. None: nobody has just read what is before it, it does
  // not fit into one, it may still change, or too many read at once.
  Result<void> find(std::span<Piece> pieces);

 private:
  using Held = std::shared_ptr<Window>;
  // Windows are large, and follow one another: their memory is used again.
  struct Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<Window>> free;  // Guarded by `mutex`, which is locked last of all.
  };
  // How far somebody has read.
  struct Reader {
    Location next;           // Behind what was read last. Segment 0: nobody.
    std::uint32_t step = 0;  // How large the last window was to be.
    std::uint64_t used = 0;  // When it came last.

    bool would_read(Location from) const;
    void note(Location behind, std::uint64_t now);
  };
  struct Kept {
    Held window;
    Reader reader;  // The furthest of all who read from it.
    bool is_followed = false;

    bool is_near(Location place) const;
    bool is_unread() const { return reader.next == window->from; }
  };

  std::size_t find_ready(std::span<Piece> pieces);
  Result<Held> find_or_read(const Piece& piece);

  // Called with mutex_ held.
  Held use_window(const Piece& piece);
  Kept* window_with(Location from, std::uint32_t bytes);
  std::uint32_t next_step(Location from, std::uint32_t bytes);
  std::uint32_t end_before_others(Location from, std::uint32_t end) const;
  bool make_room();
  bool is_idle(const Kept& kept) const;
  void follow(Kept& kept, const std::shared_ptr<File>& file, std::uint32_t end);
  void keep(Held window, Reader reader);

  Held plan_window(Location from, std::uint32_t step, std::uint32_t end) const;

  static constexpr std::size_t kReadersMax = 64;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Kept> windows_;
  std::size_t coming_ = 0;                     // Asked for, and not among them yet.
  std::array<Reader, kReadersMax> strangers_;  // Who has no window.
  std::uint64_t uses_ = 0;

  const std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
  Workers workers_{1};  // Last: it ends before what it works on.
};

}  // namespace redrive::journal
