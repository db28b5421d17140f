#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "net/http/buffer.h"

namespace redrive::http {

// One thread's receive buffers. Only incomplete requests are copied out of them. Pages that were
// never touched use no memory.
class ReceiveBuffers {
 public:
  explicit ReceiveBuffers(std::size_t count)
      : storage_(std::make_unique_for_overwrite<char[]>(count * kStrideBytes)) {}

  // Returns the buffer empty; bytes received there before are lost.
  Buffer empty(std::size_t number) {
    return Buffer(std::span(storage_.get() + number * kStrideBytes, kBufferBytes));
  }

 private:
  static constexpr std::size_t kBufferBytes = 64u << 10;
  // Not a power of two, to avoid cache set conflicts between the buffers.
  static constexpr std::size_t kStrideBytes = kBufferBytes + (26u << 6);
  static_assert(kStrideBytes - kBufferBytes >= kBodyPadding);

  const std::unique_ptr<char[]> storage_;
};

}  // namespace redrive::http
