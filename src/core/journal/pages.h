#pragma once

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "core/journal/files.h"

namespace redrive::journal {

// Offset of the page that contains this byte.
inline std::uint32_t page_of(std::uint32_t offset) {
  return offset / kPageBytes * kPageBytes;
}

// Rounds up to whole pages.
inline std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Page-aligned memory for direct I/O.
class Pages {
 public:
  char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

  // Grows to at least `bytes`, preserving the first `kept` bytes.
  void grow(std::size_t bytes, std::size_t kept = 0) {
    if (bytes <= size_) return;
    const std::size_t whole = whole_pages(bytes);
    assert(kept <= size_);
    std::unique_ptr<char, Free> larger(static_cast<char*>(std::aligned_alloc(kPageBytes, whole)));
    if (!larger) throw std::bad_alloc();
    if (kept > 0) std::memcpy(larger.get(), bytes_.get(), kept);
    bytes_ = std::move(larger);
    size_ = whole;
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<char, Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace redrive::journal
