#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace redrive::auth {

// Admits `per_second` requests a second on average, and as many in one burst. The whole state is
// one number, the time at which the bucket will be full again (GCRA). Thread-safe.
class RateLimit {
 public:
  explicit RateLimit(std::uint32_t per_second)
      : step_(1'000'000'000 / per_second), burst_(std::int64_t{1'000'000'000} - step_) {}

  bool admit(std::chrono::nanoseconds now) {
    std::int64_t full_at = full_at_.load(std::memory_order_relaxed);
    while (true) {
      const std::int64_t from = full_at > now.count() ? full_at : now.count();
      if (from - now.count() > burst_) return false;
      if (full_at_.compare_exchange_weak(full_at, from + step_)) return true;
    }
  }

 private:
  const std::int64_t step_;
  const std::int64_t burst_;
  std::atomic<std::int64_t> full_at_ = 0;
};

}  // namespace redrive::auth
