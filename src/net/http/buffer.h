#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "net/http/message.h"

namespace redrive::http {

// Received bytes that have not been consumed yet. Consuming only advances an offset, so a long run
// of pipelined requests costs no copying; the bytes are moved when more space is reserved.
//
// Invariant: kBodyPadding bytes past the last unread byte are readable (their content is
// undefined), so that scanners can work in whole vectors and simdjson can read ahead.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t capacity) { reserve(capacity); }
  // Uses borrowed memory, which must be followed by kBodyPadding readable bytes.
  explicit Buffer(std::span<char> borrowed)
      : storage_(borrowed.data()), capacity_(borrowed.size()) {}
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    owned_ = std::move(other.owned_);
    storage_ = std::exchange(other.storage_, nullptr);
    capacity_ = std::exchange(other.capacity_, 0);
    begin_ = std::exchange(other.begin_, 0);
    end_ = std::exchange(other.end_, 0);
    return *this;
  }

  char* data() { return storage_ + begin_; }
  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  std::size_t capacity() const { return capacity_; }
  std::string_view unread() const { return {storage_ + begin_, size()}; }

  // Where to receive the next bytes; commit() records how many arrived.
  std::span<char> space() { return {storage_ + end_, capacity_ - end_}; }
  void commit(std::size_t bytes) {
    assert(bytes <= capacity_ - end_);
    end_ += bytes;
  }
  void consume(std::size_t bytes) {
    assert(bytes <= size());
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  // Drops all but the first `size_left` unread bytes.
  void truncate(std::size_t size_left) {
    assert(size_left <= size());
    end_ = begin_ + size_left;
  }

  // Ensures capacity for `size_max` unread bytes in total. Invalidates pointers into the buffer.
  void reserve(std::size_t size_max);
  void append(std::string_view bytes);
  // Frees the memory.
  void release() { *this = Buffer(); }

 private:
  std::unique_ptr<char[]> owned_;
  char* storage_ = nullptr;   // Owned or borrowed.
  std::size_t capacity_ = 0;  // Excluding the padding.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

inline void Buffer::reserve(std::size_t size_max) {
  if (storage_ != nullptr && begin_ + size_max <= capacity_) return;
  const std::size_t kept = size();
  if (storage_ != nullptr && size_max <= capacity_) {
    std::memmove(storage_, data(), kept);
  } else {
    auto larger = std::make_unique_for_overwrite<char[]>(size_max + kBodyPadding);
    if (kept > 0) std::memcpy(larger.get(), data(), kept);
    owned_ = std::move(larger);
    storage_ = owned_.get();
    capacity_ = size_max;
  }
  begin_ = 0;
  end_ = kept;
}

inline void Buffer::append(std::string_view bytes) {
  if (bytes.empty()) return;
  reserve(size() + bytes.size());
  std::memcpy(space().data(), bytes.data(), bytes.size());
  commit(bytes.size());
}

}  // namespace redrive::http
