#pragma once

#include <cstddef>

// Memory that will be needed soon is asked for ahead, so that those who then look at it do not wait
// for one line after the other. Worth it where many things that lie apart are about to be used.

namespace redrive {

inline void fetch(const void* address) {
  __builtin_prefetch(address);
}

// Every line of it.
template <class T>
void fetch_all(const T& object) {
  constexpr std::size_t kLineBytes = 64;
  const char* const bytes = reinterpret_cast<const char*>(&object);
  for (std::size_t at = 0; at < sizeof(T); at += kLineBytes) fetch(bytes + at);
  fetch(bytes + sizeof(T) - 1);
}

}  // namespace redrive
