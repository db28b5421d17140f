#include "core/journal/tail.h"

#include <algorithm>
#include <cassert>

namespace redrive::journal {
namespace {

constexpr std::uint32_t kChunkBytes = 256u << 10;
constexpr std::size_t kPooledChunksMax = 16;

}  // namespace

Tail::Tail(std::size_t cache_bytes) : cache_bytes_(cache_bytes) {}

char* Tail::extend(std::uint32_t segment, std::uint32_t offset, std::uint32_t size) {
  const bool follows = !chunks_.empty() && chunks_.back()->segment == segment &&
                       std::uint64_t{chunks_.back()->offset} + chunks_.back()->size == offset;
  assert(follows || chunks_.empty() || chunks_.back()->segment < segment);
  if (!follows || chunks_.back()->capacity - chunks_.back()->size < size) {
    chunks_.push_back(new_chunk(size));
    chunks_.back()->segment = segment;
    chunks_.back()->offset = offset;
  }
  Chunk& chunk = *chunks_.back();
  char* const room = chunk.bytes.get() + chunk.size;
  chunk.size += size;
  return room;
}

std::shared_ptr<Chunk> Tail::new_chunk(std::uint32_t size) {
  std::unique_ptr<Chunk> chunk;
  if (size <= kChunkBytes) {
    const MutexLock lock(pool_->mutex);
    if (!pool_->free.empty()) {
      chunk = std::move(pool_->free.back());
      pool_->free.pop_back();
    }
  }
  if (!chunk) {
    chunk = std::make_unique<Chunk>();
    chunk->capacity = std::max(size, kChunkBytes);
    chunk->bytes = std::make_unique_for_overwrite<char[]>(chunk->capacity);
  }
  chunk->size = 0;
  chunk->written = 0;
  bytes_ += chunk->capacity;
  // The last reference, possibly in a reader's thread, returns the memory to the pool.
  return {chunk.release(), [pool = pool_](Chunk* done) {
            std::unique_ptr<Chunk> owned(done);
            const MutexLock lock(pool->mutex);
            if (owned->capacity == kChunkBytes && pool->free.size() < kPooledChunksMax) {
              pool->free.push_back(std::move(owned));
            }
          }};
}

void Tail::unwritten(std::vector<Range>& out) const {
  out.clear();
  auto chunk = chunks_.end();
  while (chunk != chunks_.begin() && (*std::prev(chunk))->written < (*std::prev(chunk))->size) {
    --chunk;
  }
  for (; chunk != chunks_.end(); ++chunk) {
    out.push_back({.chunk = *chunk, .from = (*chunk)->written, .to = (*chunk)->size});
  }
}

void Tail::mark_written(const std::vector<Range>& ranges) {
  for (const Range& range : ranges) range.chunk->written = range.to;
  evict();
}

void Tail::evict() {
  // Keep the last chunk: it is still being filled.
  while (bytes_ > cache_bytes_ && chunks_.size() > 1 &&
         chunks_.front()->written == chunks_.front()->size) {
    bytes_ -= chunks_.front()->capacity;
    chunks_.pop_front();
  }
}

Location Tail::begin() const {
  if (chunks_.empty()) return {};
  return {chunks_.front()->segment, chunks_.front()->offset};
}

std::shared_ptr<const Chunk> Tail::find(Location from, std::size_t size) const {
  const auto after = std::upper_bound(
      chunks_.begin(), chunks_.end(), from, [](const Location& at, const auto& chunk) {
        return at < Location{chunk->segment, chunk->offset};
      });
  if (after == chunks_.begin()) return nullptr;
  const auto& chunk = *std::prev(after);
  const bool inside = chunk->segment == from.segment &&
                      from.offset - chunk->offset + std::uint64_t{size} <= chunk->size;
  return inside ? chunk : nullptr;
}

}  // namespace redrive::journal
