#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dead_letters/triage/features.h"

namespace redrive::triage {

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

// A property that is more frequent among the dead than among the processed.
struct Distinction {
  DistinctionKind kind;
  std::string feature;  // "store_id", "order.items[].sku"; empty if the kind is self-explanatory.
  std::uint64_t dead_with = 0;
  std::uint64_t dead_total = 0;
  std::uint64_t processed_with = 0;
  std::uint64_t processed_total = 0;
  double score = 0;      // Smoothed difference of the two frequencies: 0 to 1.
  std::string sentence;  // "24 of 24 lack attribute store_id; 0 of 67 processed do"
  std::string filter;    // A Filter that selects the messages it holds for; empty if impossible.
};

// Weaker distinctions are not reported.
inline constexpr double kScoreMin = 0.1;
// Upper bound for the probability of reporting anything for two samples that do not differ.
inline constexpr double kChanceMax = 0.01;

// The properties that distinguish the dead from the processed, at most `max`, strongest first.
//
// A feature is reported if its share among the dead is larger by kScoreMin and the difference is
// significant, corrected for the number of features compared. Of features that follow from each
// other only the one that explains the rest is reported: a missing key, not the keys below it.
// Empty if the two do not differ, or if there are too few of either to tell. Findings from the
// samples need the names of the dead (FeatureCounts::with_names).
std::vector<Distinction> rank(const FeatureCounts& dead, const FeatureCounts& processed,
                              std::size_t max);

}  // namespace redrive::triage
