#include "net/wire/arena.h"

#include <algorithm>
#include <cstring>

namespace redrive::wire {

char* Arena::take(std::size_t size) {
  char* const taken = reserve(size);
  commit(size);
  return taken;
}

char* Arena::reserve(std::size_t size) {
  if (static_cast<std::size_t>(end_ - next_) < size) grow(size);
  return next_;
}

std::string_view Arena::copy(std::string_view text) {
  if (text.empty()) return {};
  char* const place = take(text.size());
  std::memcpy(place, text.data(), text.size());
  return {place, text.size()};
}

void Arena::reset() {
  if (blocks_.size() > 1) blocks_.erase(blocks_.begin(), blocks_.end() - 1);
  if (!blocks_.empty() && blocks_.back().size > kKeptBytesMax) blocks_.clear();
  next_ = blocks_.empty() ? nullptr : blocks_.back().bytes.get();
  end_ = blocks_.empty() ? nullptr : next_ + blocks_.back().size;
}

void Arena::grow(std::size_t size) {
  const std::size_t doubled = blocks_.empty() ? kFirstBlockBytes : 2 * blocks_.back().size;
  const std::size_t block_size = std::max(doubled, size);
  blocks_.push_back({std::make_unique_for_overwrite<char[]>(block_size), block_size});
  next_ = blocks_.back().bytes.get();
  end_ = next_ + block_size;
}

}  // namespace redrive::wire
