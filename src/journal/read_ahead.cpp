#include "journal/read_ahead.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redrive::journal {
namespace {

// Larger ones hardly cost less, and whoever waits for one waits longer.
constexpr std::uint32_t kWindowBytesFirst = 64u << 10;
constexpr std::uint32_t kWindowBytesMax = 1u << 20;
// Who skips more than this does not read one after the other.
constexpr std::uint32_t kSkipBytesMax = 32u << 10;
// Windows overlap by this much, for pieces that reach over the end of one.
constexpr std::uint32_t kOverlapBytes = 32u << 10;
constexpr std::size_t kPooledMax = 4;

// Whether all of it is there.
Result<bool> read_window(File& file, ReadAhead::Window& window) {
  const std::size_t size = whole_pages(window.size);
  window.pages.grow(size);
  return TRY(file.read_pages(window.from.offset, window.pages.data(), size)) >= window.size;
}

}  // namespace

bool ReadAhead::Reader::has(Location from, std::uint32_t bytes) const {
  return (window && window->has(from, bytes)) || (coming && coming->has(from, bytes));
}

bool ReadAhead::Reader::is_next(Location from) const {
  return next.segment == from.segment && from.offset >= next.offset &&
         from.offset - next.offset <= kSkipBytesMax;
}

// Whoever has the bytes, or would read them next; else the one that has not come for longest begins
// anew.
ReadAhead::Reader& ReadAhead::reader_of(Location from, std::uint32_t bytes) {
  const auto has = [&](const Reader& reader) { return reader.has(from, bytes); };
  const auto is_next = [&](const Reader& reader) { return reader.is_next(from); };
  auto found = std::ranges::find_if(readers_, has);
  if (found == readers_.end()) found = std::ranges::find_if(readers_, is_next);
  if (found != readers_.end()) return *found;
  found = std::ranges::min_element(readers_, {}, &Reader::used);
  found->next = {};
  found->step = 0;
  return *found;
}

// The last holder, perhaps in another thread, gives the memory back.
ReadAhead::Held ReadAhead::new_window() const {
  std::unique_ptr<Window> window;
  {
    const std::lock_guard lock(pool_->mutex);
    if (!pool_->free.empty()) {
      window = std::move(pool_->free.back());
      pool_->free.pop_back();
    }
  }
  if (!window) window = std::make_unique<Window>();
  return {window.release(), [pool = pool_](Window* done) {
            std::unique_ptr<Window> owned(done);
            const std::lock_guard lock(pool->mutex);
            if (pool->free.size() < kPooledMax) pool->free.push_back(std::move(owned));
          }};
}

ReadAhead::Held ReadAhead::plan_window(Reader& reader, Location from, std::uint32_t end) {
  reader.step = std::clamp(2 * reader.step, kWindowBytesFirst, kWindowBytesMax);
  Held window = new_window();
  window->from = {from.segment, page_of(from.offset)};
  window->size = std::min(reader.step, end - window->from.offset);
  return window;
}

// Once half of the window is used.
void ReadAhead::ask_for_next(Reader& reader, const std::shared_ptr<File>& file, std::uint32_t end) {
  const Window& window = *reader.window;
  const std::uint32_t window_end = window.from.offset + window.size;
  const bool is_due = reader.next.offset - window.from.offset > window.size / 2;
  if (!is_due || window_end >= end || reader.is_asked || reader.coming) return;
  // One that ended where the log did then may be shorter than that.
  const Location from{window.from.segment, window_end - std::min(kOverlapBytes, window.size)};
  reader.is_asked = workers_.run([this, &reader, file, next = plan_window(reader, from, end)] {
    // Who needs what could not be read will read it, and hear why not.
    const auto is_whole = read_window(*file, *next);
    const std::lock_guard lock(mutex_);
    reader.is_asked = false;
    if (is_whole.value_or(false) && reader.next.segment == next->from.segment) reader.coming = next;
  });
}

Result<std::shared_ptr<const ReadAhead::Window>> ReadAhead::find(const std::shared_ptr<File>& file,
                                                                 Location from, std::uint32_t bytes,
                                                                 std::uint32_t end) {
  assert(from.offset + std::uint64_t{bytes} <= end);
  Reader* reader = nullptr;
  Held window;
  {
    const std::lock_guard lock(mutex_);
    reader = &reader_of(from, bytes);
    reader->used = ++uses_;
    const bool is_new = reader->next.segment == 0;
    const Location behind{from.segment, from.offset + bytes};
    reader->next = is_new ? behind : std::max(reader->next, behind);
    if (reader->window && reader->window->has(from, bytes)) {
      ask_for_next(*reader, file, end);
      return reader->window;
    }
    reader->window = std::exchange(reader->coming, nullptr);
    if (reader->window && reader->window->has(from, bytes)) return reader->window;
    if (is_new) return nullptr;
    window = plan_window(*reader, from, end);
  }
  if (!window->has(from, bytes) || !TRY(read_window(*file, *window))) return nullptr;
  const std::lock_guard lock(mutex_);
  if (reader->next.segment == from.segment) reader->window = window;
  return window;
}

}  // namespace redrive::journal
