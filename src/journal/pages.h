#pragma once

#include <cassert>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "journal/files.h"

namespace redrive::journal {

// Where the page begins that has this byte.
inline std::uint32_t page_of(std::uint32_t offset) {
  return offset / kPageBytes * kPageBytes;
}

// Up to the end of the last page.
inline std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Memory that whole pages can be written from and read into: it begins where a page does.
class Pages {
 public:
  char* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

  // Makes it at least so large. The first `kept` bytes stay what they are.
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
