#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dead_letters/triage/message_row.h"
#include "dead_letters/triage/row_sample.h"
#include "dead_letters/triage/significance.h"
#include "dead_letters/triage/text_pattern.h"

namespace redrive::triage {

using RowSet = std::bitset<RowSample::kRowsMax>;

// A set of rows of the dead and one of the processed.
struct RowSets {
  RowSet dead;
  RowSet processed;

  friend RowSets operator&(const RowSets& a, const RowSets& b) {
    return {a.dead & b.dead, a.processed & b.processed};
  }
  friend RowSets operator|(const RowSets& a, const RowSets& b) {
    return {a.dead | b.dead, a.processed | b.processed};
  }
};

// A predicate on messages.
struct RowFeature {
  enum class Test : std::uint8_t {
    present,
    absent,
    type,
    value,
    at_least,
    below,
    pattern,
    no_pattern
  };
  enum class Measure : std::uint8_t { number, characters, items };  // What a threshold applies to.

  const RowNames::Path* name = nullptr;
  Test test = Test::present;
  Measure measure = Measure::number;
  JsonType type = JsonType::null;  // For type and value.
  TextPattern pattern = TextPattern::empty;
  std::uint64_t value = 0;
  double threshold = 0;
  RowSets with;
  RowSets known;           // Rows for which the predicate can be decided.
  std::size_t tests = 1;   // Number of thresholds tried to find this one.
  bool for_pairs = false;  // Alone it is tested by exact counts.

  Contrast contrast() const;
};

// All predicates worth comparing for the rows of two samples. `names` has the paths to examine;
// `is_exact` tells for which paths values are counted exactly elsewhere.
std::vector<RowFeature> find_row_features(const RowSample& dead, const RowSample& processed,
                                          const RowNames& names,
                                          const std::function<bool(PathHash)>& is_exact);

// The number with the fewest digits that is greater than `low` and at most `high`.
double roundest_between(double low, double high);

// Spearman's rank correlation: from -1 to 1; 0 if all values of one side are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace redrive::triage
