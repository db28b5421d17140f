#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dead_letter/rank.h"
#include "dead_letter/significance.h"

namespace redrive::dead_letter {

// A distinction under consideration, and where it belongs, to tell what follows from what.
struct Candidate {
  Distinction distinction;
  std::vector<std::string> place;               // {"attribute", name} or {"body", key, key…}.
  std::vector<std::vector<std::string>> parts;  // Of a pair: the places of the two.
};

struct Finding {
  DistinctionKind kind = DistinctionKind::body_kind;
  Contrast contrast = {};
  std::vector<std::string> place = {};
  std::string feature = {};
  std::string predicate = {};  // "lack attribute store_id"
  std::string filter = {};
  std::string remark = {};       // After the sentence, if anything.
  std::string_view verb = "do";  // Of the processed: "3 of 80 processed do".
  std::vector<std::vector<std::string>> parts = {};
};

// 4000 as 4,000.
std::string with_commas(std::uint64_t number);

// Collects findings that are strong enough, and counts the tests made to find them.
class Findings {
 public:
  // One test, and its outcome.
  void consider(Finding finding);
  // The outcome of tests counted by count_tests().
  void add(Finding finding);
  void count_tests(std::size_t tests) { tests_ += tests; }

  // The highest score of a significant finding so far.
  double best_score() const;
  // The findings that chance would not bring about, considering how many tests were made.
  std::vector<Candidate> take();

 private:
  bool is_significant(const Candidate& candidate) const;

  std::vector<Candidate> candidates_;
  std::size_t tests_ = 0;
};

}  // namespace redrive::dead_letter
