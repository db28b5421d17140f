#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace redrive::wire {

// Bump allocator for the texts of one request; freed all at once.
//
// One thread owns an arena and resets it between requests, which invalidates every view into it. A
// reset keeps the largest block (up to kKeptBytesMax), so a warmed-up thread allocates no more, and
// one huge request does not hold its memory forever.
class Arena {
 public:
  static constexpr std::size_t kFirstBlockBytes = 4u << 10;
  static constexpr std::size_t kKeptBytesMax = 1u << 20;

  // `size` bytes, uninitialised and unaligned: for text.
  char* take(std::size_t size);
  // Reserves `size` bytes, of which commit() takes as many as were written.
  char* reserve(std::size_t size);
  void commit(std::size_t size) { next_ += size; }
  std::string_view copy(std::string_view text);
  void reset();

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size;
  };

  void grow(std::size_t size);

  std::vector<Block> blocks_;  // The last one is being filled; sizes grow.
  char* next_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace redrive::wire
