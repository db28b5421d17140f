#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redrive::dead_letter {

// Memory that all values of one FeatureCounts share.
class ValueBudget {
 public:
  static constexpr std::size_t kBytes = 96 * 1024;
  // A value's place in its list, doubled because the list grows by doubling, and a heap block.
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

// How often each of a few values occurred. With one too many, one too long, or none of the budget
// left, all that is known is that there are many.
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

}  // namespace redrive::dead_letter
