#include "dead_letters/triage/features.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "dead_letters/triage/json_document.h"
#include "dead_letters/triage/secrets.h"

namespace redrive::triage {

FeatureCounts FeatureCounts::with_names() {
  FeatureCounts counts;
  counts.names_.emplace();
  return counts;
}

void FeatureCounts::add(const MessageView& message) {
  ++total_;
  with_group_ += message.has_group ? 1 : 0;
  const auto digits = static_cast<std::size_t>(std::bit_width(message.body.size()));
  ++sizes_[std::min(digits, kSizeBuckets - 1)];
  for (const AttributeView& attribute : message.attributes) add_attribute(attribute);
  const bool parsed = message.body.size() <= kSmallJsonBytes;
  const JsonDocument document(parsed ? message.body : std::string_view());
  const BodyKind kind = parsed ? json_.add(document, message.body, budget_) : BodyKind::large;
  ++kinds_[static_cast<std::size_t>(kind)];
  if (!sample_.wants_next()) return;
  sample_.put(read_row(message, document, names_ ? &*names_ : nullptr));
}

void FeatureCounts::add_attribute(const AttributeView& attribute) {
  if (attribute.name.size() > kAttributeNameBytesMax) return;
  AttributeCounts* counts = find_or_create(attribute.name);
  if (counts == nullptr || counts->seen_in == total_) return;
  counts->seen_in = total_;
  ++counts->with;
  counts->types.add(attribute.data_type, 1, budget_);
  if (attribute.data_type.starts_with("Binary")) {
    counts->values.become_many(budget_);
  } else {
    counts->values.add(attribute.value, 1, budget_);
  }
}

const AttributeCounts* FeatureCounts::find_attribute(std::string_view name) const {
  const auto found = std::ranges::find(attributes_, name, &AttributeCounts::name);
  return found == attributes_.end() ? nullptr : &*found;
}

AttributeCounts* FeatureCounts::find_or_create(std::string_view name) {
  const auto found = std::ranges::find(attributes_, name, &AttributeCounts::name);
  if (found != attributes_.end()) return &*found;
  if (attributes_.size() >= kAttributesMax) {
    attributes_full_ = true;
    return nullptr;
  }
  attributes_.push_back({.name = std::string(name)});
  if (is_secret_name(name)) attributes_.back().values.become_many(budget_);
  return &attributes_.back();
}

void FeatureCounts::merge(const FeatureCounts& other) {
  if (&other == this) return merge(FeatureCounts(other));
  total_ += other.total_;
  with_group_ += other.with_group_;
  std::ranges::transform(kinds_, other.kinds_, kinds_.begin(), std::plus());
  std::ranges::transform(sizes_, other.sizes_, sizes_.begin(), std::plus());
  // What one side may have left out is left out of the sum.
  if (other.attributes_full_) {
    std::erase_if(attributes_, [&](AttributeCounts& mine) {
      if (other.find_attribute(mine.name) != nullptr) return false;
      mine.types.become_many(budget_);
      mine.values.become_many(budget_);
      return true;
    });
  }
  const bool full = attributes_full_ || other.attributes_full_;
  for (const AttributeCounts& theirs : other.attributes_) {
    if (attributes_full_ && find_attribute(theirs.name) == nullptr) continue;
    AttributeCounts* mine = find_or_create(theirs.name);
    if (mine == nullptr) continue;
    mine->with += theirs.with;
    mine->types.merge(theirs.types, budget_);
    mine->values.merge(theirs.values, budget_);
  }
  attributes_full_ |= full;
  json_.merge(other.json_, budget_);
  sample_.merge(other.sample_);
}

bool operator==(const FeatureCounts& a, const FeatureCounts& b) {
  return a.total_ == b.total_ && a.with_group_ == b.with_group_ && a.kinds_ == b.kinds_ &&
         a.sizes_ == b.sizes_ && a.attributes_ == b.attributes_ &&
         a.attributes_full_ == b.attributes_full_ && a.json_ == b.json_ && a.sample_ == b.sample_;
}

std::size_t FeatureCounts::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + attributes_.capacity() * sizeof(AttributeCounts) +
                      json_.heap_bytes() + sample_.heap_bytes();
  for (const AttributeCounts& attribute : attributes_) {
    if (attribute.name.capacity() > std::string().capacity())
      bytes += attribute.name.capacity() + 1;
    bytes += attribute.types.heap_bytes() + attribute.values.heap_bytes();
  }
  return bytes;
}

}  // namespace redrive::triage
