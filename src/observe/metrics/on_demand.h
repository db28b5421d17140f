#pragma once

#include <atomic>

namespace redrive::metrics {

// A lazily created T. Most of what could be measured never happens and should cost neither memory
// nor time. Thread-safe.
template <class T>
class OnDemand {
 public:
  OnDemand() = default;
  ~OnDemand() { delete held_.load(); }
  OnDemand(const OnDemand&) = delete;
  OnDemand& operator=(const OnDemand&) = delete;

  T& get() {
    T* const held = held_.load(std::memory_order_acquire);
    return held != nullptr ? *held : make();
  }
  // Null if it was never created.
  const T* find() const { return held_.load(std::memory_order_acquire); }

 private:
  [[gnu::noinline]] T& make() {
    T* const fresh = new T();
    T* first = nullptr;
    if (held_.compare_exchange_strong(first, fresh)) return *fresh;
    delete fresh;
    return *first;
  }

  std::atomic<T*> held_ = nullptr;
};

}  // namespace redrive::metrics
