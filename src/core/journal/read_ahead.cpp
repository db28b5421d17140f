#include "core/journal/read_ahead.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redrive::journal {
namespace {

// Larger windows are hardly cheaper per byte and increase the latency of a read that waits for one.
constexpr std::uint32_t kWindowBytesFirst = 64u << 10;
constexpr std::uint32_t kWindowBytesMax = 512u << 10;
// For sixteen concurrent readers, each with its next window being read.
constexpr std::size_t kWindowsMax = 32;
// A reader that skips more than this is not sequential.
constexpr std::uint32_t kSkipBytesMax = 32u << 10;
// Windows overlap by this much, for pieces that span the end of one.
constexpr std::uint32_t kOverlapBytes = 32u << 10;
constexpr std::size_t kPooledMax = 4;
// A window is idle after this many reads from other windows: by then each of the maximum number of
// readers has had its turn.
constexpr std::uint64_t kIdleUses = 2 * kWindowsMax;
// A window that has not been read from yet is kept longer.
constexpr std::uint64_t kIdleUsesUnread = 16'384;

// Returns whether the whole window was read.
Result<bool> read_window(File& file, ReadAhead::Window& window) {
  const std::size_t size = whole_pages(window.size);
  return TRY(file.read_pages(window.from.offset, window.pages.data(), size)) >= window.size;
}

}  // namespace

bool ReadAhead::Reader::would_read(Location from) const {
  return next.segment == from.segment && from.offset >= next.offset &&
         from.offset - next.offset <= kSkipBytesMax;
}

void ReadAhead::Reader::note(Location behind, std::uint64_t now) {
  next = behind;
  used = now;
}

bool ReadAhead::Kept::is_near(Location place) const {
  const std::uint64_t end = window->from.offset + window->size;
  return place.segment == window->from.segment && place.offset >= window->from.offset &&
         place.offset <= end + kWindowBytesMax;
}

ReadAhead::Kept* ReadAhead::window_with(Location from, std::uint32_t bytes) {
  const auto has = [&](const Kept& kept) { return kept.window->has(from, bytes); };
  const auto found = std::ranges::find_if(windows_, has);
  return found == windows_.end() ? nullptr : &*found;
}

// The window size to read for a piece that is in no window; 0 if it does not continue a known
// reader. Close to large windows it starts large: a reader that jumps back and forth will need all
// of it. Tracks the new reader, evicting the least recently used.
std::uint32_t ReadAhead::next_step(Location from, std::uint32_t bytes) {
  const auto would = [&](const Reader& reader) { return reader.would_read(from); };
  auto reader = std::ranges::find_if(unserved_readers_, would);
  bool is_known = reader != unserved_readers_.end();
  std::uint32_t last = is_known ? reader->step : 0;
  for (const Kept& kept : windows_) {
    is_known |= would(kept.reader);
    if (kept.is_near(from)) last = std::max(last, kept.reader.step);
  }
  if (reader == unserved_readers_.end()) {
    reader = std::ranges::min_element(unserved_readers_, {}, &Reader::used);
  }
  reader->step = is_known ? std::clamp(2 * last, kWindowBytesFirst, kWindowBytesMax) : 0;
  reader->note({from.segment, from.offset + bytes}, uses_);
  return reader->step;
}

bool ReadAhead::is_idle(const Kept& kept) const {
  const std::uint64_t patience = kept.is_unread() ? kIdleUsesUnread : kIdleUses;
  return uses_ - kept.reader.used > patience;
}

// Evicts an idle window and returns whether another may be created. Its memory can then be reused
// while it is warm: reading into cold memory costs ten times as much.
bool ReadAhead::evict_idle() {
  const auto idle = [this](const Kept& kept) REQUIRES(mutex_) { return is_idle(kept); };
  const auto found = std::ranges::find_if(windows_, idle);
  if (found != windows_.end()) windows_.erase(found);
  return windows_.size() + coming_ < kWindowsMax;
}

// Where a new window should end: bytes in another window are not read again, except for the
// overlap.
std::uint32_t ReadAhead::end_before_others(Location from, std::uint32_t end) const {
  for (const Kept& kept : windows_) {
    const auto [segment, offset] = kept.window->from;
    if (segment == from.segment && offset > from.offset)
      end = std::min(end, offset + kOverlapBytes);
  }
  return end;
}

// The last reference, possibly in another thread, returns the memory to the pool.
ReadAhead::Held ReadAhead::plan_window(Location from, std::uint32_t step, std::uint32_t end) const {
  std::unique_ptr<Window> window;
  {
    const MutexLock lock(pool_->mutex);
    if (!pool_->free.empty()) {
      window = std::move(pool_->free.back());
      pool_->free.pop_back();
    }
  }
  if (!window) {
    window = std::make_unique<Window>();
    window->pages.grow(kWindowBytesMax);
  }
  window->from = {from.segment, page_of(from.offset)};
  window->size = std::min(step, end - window->from.offset);
  return {window.release(), [pool = pool_](Window* done) {
            std::unique_ptr<Window> owned(done);
            const MutexLock lock(pool->mutex);
            if (pool->free.size() < kPooledMax) pool->free.push_back(std::move(owned));
          }};
}

void ReadAhead::keep(Held window, Reader reader) {
  reader.used = uses_;
  windows_.push_back({.window = std::move(window), .reader = reader});
}

// Starts reading the next window once half of this one is used.
void ReadAhead::follow(Kept& kept, const std::shared_ptr<File>& file, std::uint32_t end) {
  const Window& window = *kept.window;
  const std::uint32_t window_end = window.from.offset + window.size;
  const bool is_due = kept.reader.next.offset - window.from.offset > window.size / 2;
  if (!is_due || window_end >= end || kept.is_followed) return;
  kept.is_followed = true;
  // A window that ended at the end of the log may be shorter than the overlap.
  const Location from{window.from.segment, window_end - std::min(kOverlapBytes, window.size)};
  const std::uint32_t step = std::min(2 * kept.reader.step, kWindowBytesMax);
  if (window_with({from.segment, window_end}, 1) != nullptr || !evict_idle()) return;
  ++coming_;
  end = end_before_others({from.segment, window_end}, end);
  const bool will_come = workers_.run([this, file, step, next = plan_window(from, step, end)] {
    // If reading fails, the reader that needs the bytes reads them itself and gets the error.
    const bool is_whole = read_window(*file, *next).value_or(false);
    const MutexLock lock(mutex_);
    --coming_;
    // A reader may have read the window itself in the meantime.
    const Location last{next->from.segment, next->from.offset + next->size - 1};
    if (is_whole && window_with(last, 1) == nullptr) keep(next, {.next = next->from, .step = step});
  });
  if (!will_come) --coming_;
}

// Returns null if the piece is in no window.
ReadAhead::Held ReadAhead::use_window(const Piece& piece) {
  Kept* const kept = window_with(piece.from, piece.bytes);
  if (kept == nullptr) return nullptr;
  const Location behind{piece.from.segment, piece.from.offset + piece.bytes};
  kept->reader.note(std::max(kept->reader.next, behind), ++uses_);
  Held window = kept->window;
  follow(*kept, piece.file, piece.end);
  return window;
}

// Looks up windows already in memory and returns how many pieces, from the first on, were found:
// nearly always all of them, so one lock suffices.
std::size_t ReadAhead::find_ready(std::span<Piece> pieces) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].window = use_window(pieces[i]);
    if (!pieces[i].window) return i;
  }
  return pieces.size();
}

Result<ReadAhead::Held> ReadAhead::find_or_read(const Piece& piece) {
  const auto& [file, from, bytes, end, none] = piece;
  const Location behind{from.segment, from.offset + bytes};
  if (behind.offset > end) return nullptr;
  std::uint32_t step = 0;
  Held window;
  {
    const MutexLock lock(mutex_);
    if (Held found = use_window(piece)) return found;
    ++uses_;
    step = next_step(from, bytes);
    if (step == 0 || !evict_idle()) return nullptr;
    window = plan_window(from, step, std::max(end_before_others(from, end), behind.offset));
  }
  if (!window->has(from, bytes) || !TRY(read_window(*file, *window))) return nullptr;
  const MutexLock lock(mutex_);
  keep(window, {.next = behind, .step = step});
  return window;
}

// A missing window is read before the next piece is looked up, which may be in the same window.
Result<void> ReadAhead::find(std::span<Piece> pieces) {
  while (true) {
    pieces = pieces.subspan(find_ready(pieces));
    if (pieces.empty()) return {};
    pieces.front().window = TRY(find_or_read(pieces.front()));
    pieces = pieces.subspan(1);
  }
}

}  // namespace redrive::journal
