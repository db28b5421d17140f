#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "dead_letters/triage/body_shape.h"
#include "dead_letters/triage/json_fields.h"
#include "dead_letters/triage/row_sample.h"
#include "dead_letters/triage/value_counts.h"

namespace redrive::triage {

struct AttributeView {
  std::string_view name;
  std::string_view data_type;
  std::string_view value;  // Binary values are ignored.
};

// How a message was delivered. Empty texts and a zero `sent`: unknown.
struct MessageContext {
  std::string_view consumer;      // The last consumer that received it,
  std::string_view host;          // its address,
  std::string_view code_version;  // and the version of its code.
  Timestamp sent;                 // Wall time.
  std::optional<Timestamp> first_attempt;
};

struct MessageView {
  std::string_view body;
  std::span<const AttributeView> attributes;
  bool has_group = false;  // Sent with a MessageGroupId.
  MessageContext context = {};
};

struct AttributeCounts {
  std::string name;
  std::uint64_t with = 0;
  ValueCounts types;
  ValueCounts values;
  std::uint64_t seen_in = 0;  // The last message counted: each counts once.

  friend bool operator==(const AttributeCounts& a, const AttributeCounts& b) {
    return a.name == b.name && a.with == b.with && a.types == b.types && a.values == b.values;
  }
};

// Statistics of many messages in little memory.
//
// Counts are exact: when a limit is reached, further items are left out and this is recorded. What
// cannot be counted incrementally (ranges of numbers, lengths, patterns, high-cardinality values,
// combinations) is answered from a uniform sample of up to 256 messages. Not thread-safe. Uses at
// most kMemoryBytesMax bytes for any input: a few hundred bytes per attribute or key, and 16 bytes
// per value in the sample.
class FeatureCounts {
 public:
  static constexpr std::size_t kMemoryBytesMax = 416 * 1024;
  static constexpr std::size_t kAttributesMax = 64;
  static constexpr std::size_t kAttributeNameBytesMax = 256;
  static constexpr std::size_t kSizeBuckets = 24;  // Bucket n: sizes with n binary digits.

  FeatureCounts() = default;
  // Also keeps the names behind the hashes in the sample, as rank() needs them for the dead. Not
  // bounded by kMemoryBytesMax, and not written by encode().
  static FeatureCounts with_names();

  // Bodies of more than 64 KiB are counted as large and not parsed.
  void add(const MessageView& message);
  void merge(const FeatureCounts& other);

  std::uint64_t total() const { return total_; }
  std::uint64_t with_group() const { return with_group_; }
  std::uint64_t of_kind(BodyKind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
  // Messages whose body was parsed; `json` covers only these.
  std::uint64_t looked_into() const { return total_ - of_kind(BodyKind::large); }
  const std::array<std::uint64_t, kSizeBuckets>& sizes() const { return sizes_; }
  std::span<const AttributeCounts> attributes() const { return attributes_; }
  bool attributes_full() const { return attributes_full_; }
  const AttributeCounts* find_attribute(std::string_view name) const;
  const JsonFields& json() const { return json_; }
  const RowSample& sample() const { return sample_; }
  const RowNames* names() const { return names_ ? &*names_ : nullptr; }

  // Serialises for the journal. decode() refuses bytes that encode() did not write.
  std::string encode() const;
  static Result<FeatureCounts> decode(std::string_view bytes);

  std::size_t memory_bytes() const;

  friend bool operator==(const FeatureCounts& a, const FeatureCounts& b);

 private:
  friend class FeatureReader;

  AttributeCounts* find_or_create(std::string_view name);
  void add_attribute(const AttributeView& attribute);

  std::uint64_t total_ = 0;
  std::uint64_t with_group_ = 0;
  std::array<std::uint64_t, kBodyKinds> kinds_{};
  std::array<std::uint64_t, kSizeBuckets> sizes_{};
  std::vector<AttributeCounts> attributes_;
  bool attributes_full_ = false;  // Names were left out, so a missing one may have occurred.
  JsonFields json_;
  RowSample sample_;
  std::optional<RowNames> names_;
  ValueBudget budget_;
};

}  // namespace redrive::triage
