#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace redrive::metrics {

// A monotonic counter. Thread-safe; costs one relaxed addition.
class Counter {
 public:
  void add(std::uint64_t more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  // Raises the counter to a total counted elsewhere. By one thread at a time.
  void reach(std::uint64_t sum) { add(sum - std::min(sum, value())); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// Goes up and down.
class Gauge {
 public:
  void add(std::int64_t more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  void set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_ = 0;
};

// The highest value since the last take().
class Peak {
 public:
  void record(std::uint64_t value) {
    std::uint64_t highest = value_.load(std::memory_order_relaxed);
    while (highest < value && !value_.compare_exchange_weak(highest, value)) {
    }
  }
  std::uint64_t take() { return value_.exchange(0); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// A small number for each thread; shared if there are more threads than numbers.
inline constexpr std::size_t kThreadShares = 8;
inline std::size_t thread_share() {
  static std::atomic<std::size_t> last = 0;
  thread_local const std::size_t mine = last.fetch_add(1) % kThreadShares;
  return mine;
}

// One T per thread, so that writers do not contend for a cache line. Readers sum them up.
template <class T>
class PerThread {
 public:
  T& here() { return shares_[thread_share()].value; }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const Share& share : shares_) visit(share.value);
  }

 private:
  struct alignas(64) Share {
    T value;
  };
  std::array<Share, kThreadShares> shares_;
};

}  // namespace redrive::metrics
