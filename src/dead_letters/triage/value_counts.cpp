#include "dead_letters/triage/value_counts.h"

#include <algorithm>

namespace redrive::triage {

void ValueCounts::add(std::string_view text, std::uint64_t count, ValueBudget& budget) {
  if (many_) return;
  for (Value& value : values_) {
    if (value.text != text) continue;
    value.count += count;
    return;
  }
  const bool fits = text.size() <= kValueBytesMax && values_.size() < kValuesMax;
  if (!fits || !budget.take(text.size())) return become_many(budget);
  values_.push_back({std::string(text), count});
}

void ValueCounts::merge(const ValueCounts& other, ValueBudget& budget) {
  if (other.many_) return become_many(budget);
  for (const Value& value : other.values_) add(value.text, value.count, budget);
}

void ValueCounts::become_many(ValueBudget& budget) {
  for (const Value& value : values_) budget.give_back(value.text.size());
  std::vector<Value>().swap(values_);
  many_ = true;
}

std::uint64_t ValueCounts::count_of(std::string_view text) const {
  const auto found = std::ranges::find(values_, text, &Value::text);
  return found == values_.end() ? 0 : found->count;
}

// Independent of the order of values.
bool operator==(const ValueCounts& a, const ValueCounts& b) {
  return a.many_ == b.many_ && std::ranges::is_permutation(a.values_, b.values_);
}

std::size_t ValueCounts::heap_bytes() const {
  std::size_t bytes = values_.capacity() * sizeof(Value);
  for (const Value& value : values_) {
    if (value.text.capacity() > std::string().capacity()) bytes += value.text.capacity() + 1;
  }
  return bytes;
}

}  // namespace redrive::triage
