#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/workers.h"
#include "journal/journal.h"
#include "journal/pages.h"

namespace redrive::journal {

// What is read piece by piece, one after the other, as the messages of a long queue are, comes in
// ever larger windows past the system's cache: a window costs hardly more than a piece. What is
// read here and there is left to its reader.
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

  // The window that holds `bytes` from `from` on, good for as long as it is held. Null: nobody has
  // just read what is before them, or they do not fit into one. Of the segment, `end` bytes are
  // used.
  Result<std::shared_ptr<const Window>> find(const std::shared_ptr<File>& file, Location from,
                                             std::uint32_t bytes, std::uint32_t end);

 private:
  using Held = std::shared_ptr<Window>;
  // Windows are large, and follow one another: their memory is used again.
  struct Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<Window>> free;  // Guarded by `mutex`, which is locked last of all.
  };
  // Somebody who reads a segment from front to back.
  struct Reader {
    Location next;           // Behind what was read last. Segment 0: nobody.
    std::uint32_t step = 0;  // How large the last window was.
    std::uint64_t used = 0;  // When it came last.
    Held window;
    Held coming;            // What is behind the window.
    bool is_asked = false;  // For the coming one.

    bool has(Location from, std::uint32_t bytes) const;
    bool is_next(Location from) const;
  };

  // Called with mutex_ held.
  Reader& reader_of(Location from, std::uint32_t bytes);
  Held plan_window(Reader& reader, Location from, std::uint32_t end);
  void ask_for_next(Reader& reader, const std::shared_ptr<File>& file, std::uint32_t end);

  Held new_window() const;

  static constexpr std::size_t kReadersMax = 8;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::array<Reader, kReadersMax> readers_;
  std::uint64_t uses_ = 0;

  const std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
  Workers workers_{1};  // Last: it ends before what it works on.
};

}  // namespace redrive::journal
