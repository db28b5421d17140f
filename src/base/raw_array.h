#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace redrive {

struct FreeRawArray {
  void operator()(void* memory) const { std::free(memory); }
};

// An array that begins a cache line and to which nothing has been written: pages that nobody has
// used yet are not there yet.
//
// Huge pages were tried for those of many MiB. What looks here and there gained a fifth, but a new
// one took a virtual machine 3 ms, which is more than the 512 small ones take together.
template <class T>
using RawArray = std::unique_ptr<T[], FreeRawArray>;

template <class T>
RawArray<T> raw_array(std::size_t size) {
  static_assert(std::is_trivially_destructible_v<T>);
  constexpr std::size_t kLine = 64;
  const std::size_t lines = (size * sizeof(T) + kLine - 1) / kLine;
  void* memory = std::aligned_alloc(kLine, lines * kLine);
  if (memory == nullptr) throw std::bad_alloc();
  return RawArray<T>(static_cast<T*>(memory));
}

}  // namespace redrive
