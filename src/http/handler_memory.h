#pragma once

#include <cstddef>
#include <new>

namespace redrive::http {

// The memory of one asynchronous operation, kept inside its owner, so that waiting again and again
// asks nothing of the heap. An operation that does not fit, or a second one, falls back to it.
class HandlerMemory {
 public:
  HandlerMemory() = default;
  HandlerMemory(const HandlerMemory&) = delete;
  HandlerMemory& operator=(const HandlerMemory&) = delete;

  void* allocate(std::size_t bytes) {
    if (in_use_ || bytes > sizeof(bytes_)) return ::operator new(bytes);
    in_use_ = true;
    return bytes_;
  }
  void deallocate(void* memory) {
    if (memory == bytes_) {
      in_use_ = false;
    } else {
      ::operator delete(memory);
    }
  }

 private:
  alignas(std::max_align_t) std::byte bytes_[160];
  bool in_use_ = false;
};

// What Asio asks a handler for.
template <class T>
class HandlerAllocator {
 public:
  using value_type = T;

  explicit HandlerAllocator(HandlerMemory& memory) : memory_(&memory) {}
  template <class U>
  HandlerAllocator(const HandlerAllocator<U>& other) : memory_(other.memory_) {}

  T* allocate(std::size_t count) { return static_cast<T*>(memory_->allocate(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) { memory_->deallocate(memory); }

  template <class U>
  bool operator==(const HandlerAllocator<U>& other) const {
    return memory_ == other.memory_;
  }

 private:
  template <class U>
  friend class HandlerAllocator;

  HandlerMemory* memory_;
};

}  // namespace redrive::http
