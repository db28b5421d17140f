#pragma once

#include <atomic>
#include <cstddef>

namespace redrive::http {

// A number of bytes that all connections of a server share. From any thread.
class Budget {
 public:
  explicit Budget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  std::size_t bytes_max() const { return bytes_max_; }

  // Nothing is taken when the sum would be above `ceiling`, which is at most bytes_max().
  bool take(std::size_t bytes, std::size_t ceiling) {
    if (bytes <= ceiling && used_.fetch_add(bytes) <= ceiling - bytes) return true;
    if (bytes <= ceiling) used_.fetch_sub(bytes);
    return false;
  }
  // Takes without asking; is_spent() tells others to hold back.
  void charge(std::size_t bytes) { used_.fetch_add(bytes); }
  bool is_spent() const { return used_.load(std::memory_order_relaxed) >= bytes_max_; }
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes); }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_ = 0;
};

}  // namespace redrive::http
