#pragma once

#include <cstddef>

// Memory that will be needed soon is asked for ahead: it is slow to answer, but answers many at a
// time. Worth it where several things that lie apart are about to be used.

namespace redrive {

inline void fetch(const void* address) {
  __builtin_prefetch(address);
}

// Every line of the processor's caches that these bytes are in.
inline void fetch(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLineBytes = 64;
  const char* const at = static_cast<const char*>(begin);
  for (std::size_t line = 0; line < bytes; line += kLineBytes) fetch(at + line);
  if (bytes > 0) fetch(at + bytes - 1);
}

}  // namespace redrive
