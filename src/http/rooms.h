#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "http/buffer.h"

namespace redrive::http {

// Where one thread receives requests; only what is incomplete moves elsewhere. Memory that nobody
// has touched costs nothing.
class Rooms {
 public:
  explicit Rooms(std::size_t count)
      : storage_(std::make_unique_for_overwrite<char[]>(count * kStrideBytes)) {}

  // Empty. What was received there before is lost.
  Buffer empty(std::size_t number) {
    return Buffer(std::span(storage_.get() + number * kStrideBytes, kRoomBytes));
  }

 private:
  static constexpr std::size_t kRoomBytes = 64u << 10;
  // Not a power of two, or requests would compete for the same lines of the processor's caches.
  static constexpr std::size_t kStrideBytes = kRoomBytes + (26u << 6);
  static_assert(kStrideBytes - kRoomBytes >= kBodyPadding);

  const std::unique_ptr<char[]> storage_;
};

}  // namespace redrive::http
