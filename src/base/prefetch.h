#pragma once

#include <cstddef>

// Prefetches memory into the CPU caches. Useful before accessing several scattered objects: the
// cache misses then overlap.

namespace redrive {

inline void prefetch(const void* address) {
  __builtin_prefetch(address);
}

// Prefetches every cache line of the range.
inline void prefetch(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLineBytes = 64;
  const char* const at = static_cast<const char*>(begin);
  for (std::size_t line = 0; line < bytes; line += kLineBytes) prefetch(at + line);
  if (bytes > 0) prefetch(at + bytes - 1);
}

}  // namespace redrive
