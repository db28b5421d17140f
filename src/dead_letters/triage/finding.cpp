#include "dead_letters/triage/finding.h"

#include <fmt/format.h>

#include <algorithm>

namespace redrive::triage {

std::string with_commas(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

void Findings::consider(Finding finding) {
  count_tests(1);
  add(std::move(finding));
}

void Findings::add(Finding finding) {
  const Contrast& c = finding.contrast;
  const double score = smoothed_difference(c);
  if (score < kScoreMin) return;
  Distinction d{finding.kind,
                std::move(finding.feature),
                c.dead_with,
                c.dead_total,
                c.processed_with,
                c.processed_total,
                score};
  d.sentence = fmt::format("{} of {} {}; {} of {} processed {}{}",
                           with_commas(c.dead_with),
                           with_commas(c.dead_total),
                           finding.predicate,
                           with_commas(c.processed_with),
                           with_commas(c.processed_total),
                           finding.verb,
                           finding.remark);
  d.filter = std::move(finding.filter);
  candidates_.push_back({std::move(d), std::move(finding.place), std::move(finding.parts)});
}

bool Findings::is_significant(const Candidate& candidate) const {
  const Distinction& d = candidate.distinction;
  const double chance = chance_of({d.dead_with, d.dead_total, d.processed_with, d.processed_total});
  return chance * static_cast<double>(std::max<std::size_t>(tests_, 1)) <= kChanceMax;
}

double Findings::best_score() const {
  double best = 0;
  for (const Candidate& one : candidates_) {
    if (is_significant(one)) best = std::max(best, one.distinction.score);
  }
  return best;
}

std::vector<Candidate> Findings::take() {
  std::erase_if(candidates_, [&](const Candidate& one) { return !is_significant(one); });
  return std::move(candidates_);
}

}  // namespace redrive::triage
