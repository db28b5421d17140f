#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dead_letter/message_row.h"
#include "dead_letter/row_sample.h"
#include "dead_letter/significance.h"
#include "dead_letter/text_pattern.h"

namespace redrive::dead_letter {

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

// A statement that is true or false of each message.
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
  enum class Measure : std::uint8_t { number, characters, items };  // What a threshold is about.

  const RowNames::Path* name = nullptr;
  Test test = Test::present;
  Measure measure = Measure::number;
  JsonType type = JsonType::null;  // Of type and value.
  TextPattern pattern = TextPattern::empty;
  std::uint64_t value = 0;
  double threshold = 0;
  RowSets with;
  RowSets known;           // The rows of which it is known whether it is true.
  std::size_t tests = 1;   // Thresholds that were tried to find this one.
  bool for_pairs = false;  // Alone it is judged by exact counts.

  Contrast contrast() const;
};

// All statements worth comparing about the rows of two samples. `names` names the paths to look at;
// `is_exact` says of which paths the values are counted exactly elsewhere.
std::vector<RowFeature> find_row_features(const RowSample& dead, const RowSample& processed,
                                          const RowNames& names,
                                          const std::function<bool(PathHash)>& is_exact);

// The number with the fewest digits that is greater than `low` and not greater than `high`.
double roundest_between(double low, double high);

// Spearman's rank correlation: from -1 to 1; 0 where all of one side are equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace redrive::dead_letter
