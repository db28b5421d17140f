#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace redrive::wire {

// Memory for the texts of one request: handed out by moving a pointer, given back all at once.
//
// One thread owns an arena and resets it between requests; every view into it ends there. A reset
// keeps the largest block (up to kKeptBytesMax), so a thread that has seen its usual requests
// allocates no more, and one huge request does not hold memory for ever.
class Arena {
 public:
  static constexpr std::size_t kFirstBlockBytes = 4u << 10;
  static constexpr std::size_t kKeptBytesMax = 1u << 20;

  // `size` bytes, uninitialised and unaligned: for text.
  char* take(std::size_t size);
  // Room for `size` bytes, of which commit() then takes as many as were written.
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

  std::vector<Block> blocks_;  // The last one is being filled; each is larger than the one before.
  char* next_ = nullptr;
  char* end_ = nullptr;
};

}  // namespace redrive::wire
