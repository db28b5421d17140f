#pragma once

#include <atomic>
#include <cstddef>

namespace redrive::http {

// A byte limit shared by all connections of a server. Thread-safe.
class Budget {
 public:
  explicit Budget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  std::size_t bytes_max() const { return bytes_max_; }

  // Fails, taking nothing, if the total would exceed `ceiling`, which must be at most bytes_max().
  bool take(std::size_t bytes, std::size_t ceiling) {
    if (bytes <= ceiling && used_.fetch_add(bytes) <= ceiling - bytes) return true;
    if (bytes <= ceiling) used_.fetch_sub(bytes);
    return false;
  }
  // Takes unconditionally, even beyond the limit; callers check is_spent() before starting new
  // work.
  void charge(std::size_t bytes) { used_.fetch_add(bytes); }
  bool is_spent() const { return used_.load(std::memory_order_relaxed) >= bytes_max_; }
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes); }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_ = 0;
};

}  // namespace redrive::http
