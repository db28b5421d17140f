#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "journal/journal.h"

namespace redrive::journal {

// A stretch of one segment as it is, or will be, on disk. A record never spans two chunks, so a
// payload can be read from one.
struct Chunk {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;   // Of its first byte in the segment.
  std::uint32_t size = 0;     // Bytes appended so far.
  std::uint32_t written = 0;  // Of these, how many are durable.
  std::uint32_t capacity = 0;
  std::unique_ptr<char[]> bytes;  // Never moves, so readers may copy while others append behind.
};

// The end of the journal in memory: what is not yet durable, and before it as much as the cache
// may hold.
//
// Not locked: every call is made under the journal's mutex. A chunk handed out stays valid without
// it: appended payload bytes do not change any more, and a chunk's memory is used again only when
// the last holder has let it go.
class Tail {
 public:
  explicit Tail(std::size_t cache_bytes);

  // Room for `size` bytes of the segment from `offset` on, which is where the last extend ended, or
  // the beginning of another segment.
  char* extend(std::uint32_t segment, std::uint32_t offset, std::uint32_t size);

  struct Range {
    std::shared_ptr<Chunk> chunk;
    std::uint32_t from = 0;  // Within the chunk.
    std::uint32_t to = 0;
  };
  // What was appended and is not durable, oldest first.
  void unwritten(std::vector<Range>& out) const;
  // These ranges are durable now: their bytes may leave the memory when the cache is full.
  void mark_written(const std::vector<Range>& ranges);

  // What is before this is only on disk, and does not change any more. Nothing, if nothing is here.
  Location begin() const;
  // The chunk with these bytes, or null when they are only on disk.
  std::shared_ptr<const Chunk> find(Location from, std::size_t size) const;

 private:
  // Chunks come and go as fast as the journal grows: their memory is kept and used again.
  struct Pool {
    std::mutex mutex;
    std::vector<std::unique_ptr<Chunk>> free;  // Guarded by `mutex`, which is locked last of all.
  };

  std::shared_ptr<Chunk> new_chunk(std::uint32_t size);
  void evict();

  const std::size_t cache_bytes_;
  std::size_t bytes_ = 0;  // The capacity of all chunks.
  std::deque<std::shared_ptr<Chunk>> chunks_;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

}  // namespace redrive::journal
