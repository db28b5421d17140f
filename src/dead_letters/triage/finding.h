#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dead_letters/triage/rank.h"
#include "dead_letters/triage/significance.h"

namespace redrive::triage {

// A candidate distinction and the fields it is about, to find candidates that follow from others.
struct Candidate {
  Distinction distinction;
  std::vector<std::string> place;               // {"attribute", name} or {"body", key, key…}.
  std::vector<std::vector<std::string>> parts;  // For a pair: the places of both parts.
};

struct Finding {
  DistinctionKind kind = DistinctionKind::body_kind;
  Contrast contrast = {};
  std::vector<std::string> place = {};
  std::string feature = {};
  std::string predicate = {};  // "lack attribute store_id"
  std::string filter = {};
  std::string remark = {};       // Appended to the sentence, if any.
  std::string_view verb = "do";  // For the processed: "3 of 80 processed do".
  std::vector<std::vector<std::string>> parts = {};
};

// 4000 as 4,000.
std::string with_commas(std::uint64_t number);

// Collects findings that are strong enough, and counts the tests made, for the correction.
class Findings {
 public:
  // Counts one test and adds its result.
  void consider(Finding finding);
  // Adds the result of tests counted by count_tests().
  void add(Finding finding);
  void count_tests(std::size_t tests) { tests_ += tests; }

  // The highest score of a significant finding so far.
  double best_score() const;
  // The significant findings, corrected for the number of tests.
  std::vector<Candidate> take();

 private:
  bool is_significant(const Candidate& candidate) const;

  std::vector<Candidate> candidates_;
  std::size_t tests_ = 0;
};

}  // namespace redrive::triage
