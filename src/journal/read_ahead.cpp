#include "journal/read_ahead.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redrive::journal {
namespace {

// Larger ones hardly cost less, and whoever waits for one waits longer.
constexpr std::uint32_t kWindowBytesFirst = 64u << 10;
constexpr std::uint32_t kWindowBytesMax = 512u << 10;
// For sixteen who read at once, each with the next one under way.
constexpr std::size_t kWindowsMax = 32;
// Who skips more than this does not read one after the other.
constexpr std::uint32_t kSkipBytesMax = 32u << 10;
// Windows overlap by this much, for pieces that reach over the end of one.
constexpr std::uint32_t kOverlapBytes = 32u << 10;
constexpr std::size_t kPooledMax = 4;
// A window is done with when so many pieces were read from others since; every reader of as many as
// there may be has come by meanwhile.
constexpr std::uint64_t kIdleUses = 2 * kWindowsMax;
// One that nobody has come to yet is waited with for longer.
constexpr std::uint64_t kIdleUsesUnread = 16'384;

// Whether all of it is there.
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

// How large a window is worth reading for what is in none; 0 where nobody has just read what is
// before it. Close to large windows it is as large at once: who goes to and fro there will want all
// of it. The stranger who reads it is remembered, in the place of the one that has not come for
// longest.
std::uint32_t ReadAhead::next_step(Location from, std::uint32_t bytes) {
  const auto would = [&](const Reader& reader) { return reader.would_read(from); };
  auto stranger = std::ranges::find_if(strangers_, would);
  bool is_known = stranger != strangers_.end();
  std::uint32_t last = is_known ? stranger->step : 0;
  for (const Kept& kept : windows_) {
    is_known |= would(kept.reader);
    if (kept.is_near(from)) last = std::max(last, kept.reader.step);
  }
  if (stranger == strangers_.end()) {
    stranger = std::ranges::min_element(strangers_, {}, &Reader::used);
  }
  stranger->step = is_known ? std::clamp(2 * last, kWindowBytesFirst, kWindowBytesMax) : 0;
  stranger->note({from.segment, from.offset + bytes}, uses_);
  return stranger->step;
}

bool ReadAhead::is_idle(const Kept& kept) const {
  const std::uint64_t patience = kept.is_unread() ? kIdleUsesUnread : kIdleUses;
  return uses_ - kept.reader.used > patience;
}

// Whether there may be one more. The memory of one that nobody reads from any more is at hand then,
// and has been used lately: to read into other memory costs ten times as much.
bool ReadAhead::make_room() {
  const auto idle = [this](const Kept& kept) { return is_idle(kept); };
  const auto found = std::ranges::find_if(windows_, idle);
  if (found != windows_.end()) windows_.erase(found);
  return windows_.size() + coming_ < kWindowsMax;
}

// Where a window from there on should end: what is in another already is not read again, but for
// pieces that reach into it.
std::uint32_t ReadAhead::end_before_others(Location from, std::uint32_t end) const {
  for (const Kept& kept : windows_) {
    const auto [segment, offset] = kept.window->from;
    if (segment == from.segment && offset > from.offset)
      end = std::min(end, offset + kOverlapBytes);
  }
  return end;
}

// The last holder, perhaps in another thread, gives the memory back.
ReadAhead::Held ReadAhead::plan_window(Location from, std::uint32_t step, std::uint32_t end) const {
  std::unique_ptr<Window> window;
  {
    const std::lock_guard lock(pool_->mutex);
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
            const std::lock_guard lock(pool->mutex);
            if (pool->free.size() < kPooledMax) pool->free.push_back(std::move(owned));
          }};
}

void ReadAhead::keep(Held window, Reader reader) {
  reader.used = uses_;
  windows_.push_back({.window = std::move(window), .reader = reader});
}

// Once half of the window is used.
void ReadAhead::follow(Kept& kept, const std::shared_ptr<File>& file, std::uint32_t end) {
  const Window& window = *kept.window;
  const std::uint32_t window_end = window.from.offset + window.size;
  const bool is_due = kept.reader.next.offset - window.from.offset > window.size / 2;
  if (!is_due || window_end >= end || kept.is_followed) return;
  kept.is_followed = true;
  // One that ended where the log did then may be shorter than that.
  const Location from{window.from.segment, window_end - std::min(kOverlapBytes, window.size)};
  const std::uint32_t step = std::min(2 * kept.reader.step, kWindowBytesMax);
  if (window_with({from.segment, window_end}, 1) != nullptr || !make_room()) return;
  ++coming_;
  end = end_before_others({from.segment, window_end}, end);
  const bool will_come = workers_.run([this, file, step, next = plan_window(from, step, end)] {
    // Who needs what could not be read will read it, and hear why not.
    const bool is_whole = read_window(*file, *next).value_or(false);
    const std::lock_guard lock(mutex_);
    --coming_;
    // Whoever came before it has read it.
    const Location last{next->from.segment, next->from.offset + next->size - 1};
    if (is_whole && window_with(last, 1) == nullptr) keep(next, {.next = next->from, .step = step});
  });
  if (!will_come) --coming_;
}

// Null: it is in none.
ReadAhead::Held ReadAhead::use_window(const Piece& piece) {
  Kept* const kept = window_with(piece.from, piece.bytes);
  if (kept == nullptr) return nullptr;
  const Location behind{piece.from.segment, piece.from.offset + piece.bytes};
  kept->reader.note(std::max(kept->reader.next, behind), ++uses_);
  Held window = kept->window;
  follow(*kept, piece.file, piece.end);
  return window;
}

// How many, from the first on, are in windows that are there: nearly always all of them, so one
// lock serves them all.
std::size_t ReadAhead::find_ready(std::span<Piece> pieces) {
  const std::lock_guard lock(mutex_);
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
    const std::lock_guard lock(mutex_);
    if (Held found = use_window(piece)) return found;
    ++uses_;
    step = next_step(from, bytes);
    if (step == 0 || !make_room()) return nullptr;
    window = plan_window(from, step, std::max(end_before_others(from, end), behind.offset));
  }
  if (!window->has(from, bytes) || !TRY(read_window(*file, *window))) return nullptr;
  const std::lock_guard lock(mutex_);
  keep(window, {.next = behind, .step = step});
  return window;
}

// One that has to be read is there before the next is looked for: it may be in the same window.
Result<void> ReadAhead::find(std::span<Piece> pieces) {
  while (true) {
    pieces = pieces.subspan(find_ready(pieces));
    if (pieces.empty()) return {};
    pieces.front().window = TRY(find_or_read(pieces.front()));
    pieces = pieces.subspan(1);
  }
}

}  // namespace redrive::journal
