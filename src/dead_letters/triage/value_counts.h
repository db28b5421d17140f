#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::triage {

// Memory shared by all values of one FeatureCounts.
class ValueBudget {
 public:
  static constexpr std::size_t kBytes = 96 * 1024;
  // A value's slot in its vector, doubled because vectors grow by doubling, and a heap block.
  static constexpr std::size_t kOverhead = 112;

  bool take(std::size_t text_bytes) {
    if (used_ + text_bytes + kOverhead > kBytes) return false;
    used_ += text_bytes + kOverhead;
    return true;
  }
  void give_back(std::size_t text_bytes) { used_ -= text_bytes + kOverhead; }

 private:
  std::size_t used_ = 0;
};

// Counts of a few distinct values. If there are too many, one is too long, or the budget is used
// up, only the fact that there are many is kept.
class ValueCounts {
 public:
  static constexpr std::size_t kValuesMax = 32;
  static constexpr std::size_t kValueBytesMax = 64;

  struct Value {
    std::string text;
    std::uint64_t count = 0;

    friend bool operator==(const Value&, const Value&) = default;
  };

  void add(std::string_view text, std::uint64_t count, ValueBudget& budget);
  void merge(const ValueCounts& other, ValueBudget& budget);
  void become_many(ValueBudget& budget);

  bool many() const { return many_; }
  std::span<const Value> values() const { return values_; }
  std::uint64_t count_of(std::string_view text) const;

  friend bool operator==(const ValueCounts& a, const ValueCounts& b);

  std::size_t heap_bytes() const;

 private:
  std::vector<Value> values_;
  bool many_ = false;
};

}  // namespace redrive::triage
