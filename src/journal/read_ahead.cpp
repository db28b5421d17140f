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

std::size_t whole_pages(std::uint32_t bytes) {
  return (std::size_t{bytes} + kPageBytes - 1) / kPageBytes * kPageBytes;
}

}  // namespace

bool ReadAhead::Reader::is_next(Location from) const {
  return next.segment == from.segment && from.offset >= next.offset &&
         from.offset - next.offset <= kSkipBytesMax;
}

// Whoever has the bytes, or would read them next; else the one that has not come for longest begins
// anew.
ReadAhead::Reader& ReadAhead::reader_of(Location from, std::uint32_t bytes) {
  const auto has = [&](const Reader& reader) {
    return reader.window && reader.window->has(from, bytes);
  };
  if (const auto found = std::ranges::find_if(readers_, has); found != readers_.end())
    return *found;
  const auto is_next = [&](const Reader& reader) { return reader.is_next(from); };
  if (const auto found = std::ranges::find_if(readers_, is_next); found != readers_.end())
    return *found;
  Reader& oldest = *std::ranges::min_element(readers_, {}, &Reader::used);
  oldest.next = {};
  oldest.step = 0;
  return oldest;
}

// Its memory again, unless somebody still reads from it.
std::shared_ptr<ReadAhead::Window> ReadAhead::take_window(Reader& reader) {
  auto window = std::exchange(reader.window, nullptr);
  return window.use_count() == 1 ? window : std::make_shared<Window>();
}

Result<std::shared_ptr<const ReadAhead::Window>> ReadAhead::find(File& file, Location from,
                                                                 std::uint32_t bytes,
                                                                 std::uint32_t end) {
  assert(from.offset + std::uint64_t{bytes} <= end);
  Reader* reader = nullptr;
  std::shared_ptr<Window> window;
  {
    const std::lock_guard lock(mutex_);
    reader = &reader_of(from, bytes);
    reader->used = ++uses_;
    const bool is_new = reader->next.segment == 0;
    const Location behind{from.segment, from.offset + bytes};
    reader->next = is_new ? behind : std::max(reader->next, behind);
    if (reader->window && reader->window->has(from, bytes)) return reader->window;
    if (is_new) return nullptr;
    reader->step = std::clamp(2 * reader->step, kWindowBytesFirst, kWindowBytesMax);
    window = take_window(*reader);
    window->from = {from.segment, from.offset / kPageBytes * kPageBytes};
    window->size = std::min(reader->step, end - window->from.offset);
  }
  if (!window->has(from, bytes)) return nullptr;
  const std::size_t size = whole_pages(window->size);
  window->pages.grow(size);
  if (TRY(file.read_pages(window->from.offset, window->pages.data(), size)) < window->size) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (reader->next.segment == from.segment) reader->window = window;
  return window;
}

}  // namespace redrive::journal
