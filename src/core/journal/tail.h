#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "core/journal/journal.h"

namespace redrive::journal {

// A range of one segment as it is, or will be, on disk. A record never spans two chunks, so a
// payload can be read from one.
struct Chunk {
  std::uint32_t segment = 0;
  std::uint32_t offset = 0;   // Of its first byte in the segment.
  std::uint32_t size = 0;     // Bytes appended so far.
  std::uint32_t written = 0;  // Of these, durable.
  std::uint32_t capacity = 0;
  std::unique_ptr<char[]> bytes;  // Never moves, so it can be read while more is appended.
};

// The end of the journal in memory: everything not yet durable, preceded by as much as fits in the
// cache.
//
// Not thread-safe: guarded by the journal's mutex. A chunk that was handed out stays valid without
// the lock: appended payload bytes are immutable, and its memory is reused only after the last
// reference is gone.
class Tail {
 public:
  explicit Tail(std::size_t cache_bytes);

  // Reserves `size` bytes of the segment at `offset`, which is where the last extend ended, or the
  // start of another segment.
  char* extend(std::uint32_t segment, std::uint32_t offset, std::uint32_t size);

  struct Range {
    std::shared_ptr<Chunk> chunk;
    std::uint32_t from = 0;  // Within the chunk.
    std::uint32_t to = 0;
  };
  // Ranges that are appended but not durable, oldest first.
  void unwritten(std::vector<Range>& out) const;
  // These ranges are now durable and may be evicted when the cache is full.
  void mark_written(const std::vector<Range>& ranges);

  // Everything before this position is only on disk and immutable. Segment 0 if the tail is empty.
  Location begin() const;
  // The chunk that contains these bytes, or null if they are only on disk.
  std::shared_ptr<const Chunk> find(Location from, std::size_t size) const;

 private:
  // Chunks are allocated as fast as the journal grows, so their memory is reused.
  struct Pool {
    Mutex mutex;  // The innermost lock.
    std::vector<std::unique_ptr<Chunk>> free GUARDED_BY(mutex);
  };

  std::shared_ptr<Chunk> new_chunk(std::uint32_t size);
  void evict();

  const std::size_t cache_bytes_;
  std::size_t bytes_ = 0;  // Total capacity of all chunks.
  std::deque<std::shared_ptr<Chunk>> chunks_;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

}  // namespace redrive::journal
