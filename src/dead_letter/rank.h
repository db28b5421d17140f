#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dead_letter/features.h"

namespace redrive::dead_letter {

enum class DistinctionKind : std::uint8_t {
  body_kind,
  attribute_missing,
  attribute_present,
  attribute_type,
  attribute_value,
  key_missing,
  key_present,
  key_type,
  key_value,
  message_group,
  size,
  key_range,
  key_length,
  key_pattern,
  attribute_range,
  attribute_pattern,
  code_version,
  host,
  consumer,
  hour,
  age,
  pair,
};
std::string_view name_of(DistinctionKind kind);

// One thing that is more often true of the dead than of the processed.
struct Distinction {
  DistinctionKind kind;
  std::string feature;  // "store_id", "order.items[].sku"; empty where the kind says it all.
  std::uint64_t dead_with = 0;
  std::uint64_t dead_total = 0;
  std::uint64_t processed_with = 0;
  std::uint64_t processed_total = 0;
  double score = 0;      // The difference of the two shares, smoothed: 0 to 1.
  std::string sentence;  // "24 of 24 lack attribute store_id; 0 of 67 processed do"
  std::string filter;    // A Filter that picks the messages it is true of; empty if none can.
};

// Anything weaker is not said.
inline constexpr double kScoreMin = 0.1;
// The chance of saying anything at all about two samples that do not differ is at most this.
inline constexpr double kChanceMax = 0.01;

// What sets the dead apart from the processed, at most `max` things, the most telling first.
//
// A feature counts if its share among the dead is larger by kScoreMin and if chance would not bring
// that about, considering how many features were compared. Of features that follow from each other
// only the one that explains the rest is named: a key that is missing, not the keys below it.
// Empty when the two look alike, or when there are too few of either to tell. What is found in the
// samples needs the names of the dead (FeatureCounts::with_names).
std::vector<Distinction> rank(const FeatureCounts& dead, const FeatureCounts& processed,
                              std::size_t max);

}  // namespace redrive::dead_letter
