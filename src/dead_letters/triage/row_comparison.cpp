#include "dead_letters/triage/row_comparison.h"

#include <fmt/format.h>

#include <algorithm>

#include "dead_letters/triage/row_features.h"
#include "dead_letters/triage/row_words.h"

namespace redrive::triage {
namespace {

// If a single feature separates this well, pairs are not tested.
constexpr double kExplainsAlone = 0.8;
// Minimum improvement of a pair over its better part.
constexpr double kPairGain = 0.15;
constexpr std::size_t kPairFeaturesMax = 32;

// Whether any outcome with these totals could be significant. If none could, the test does not
// count for the correction (Tarone, 1990).
bool could_be_significant(const Contrast& c) {
  const std::uint64_t with = c.dead_with + c.processed_with;
  const std::uint64_t most = std::min(with, c.dead_total);
  return chance_of({most, c.dead_total, with - most, c.processed_total}) <= kChanceMax;
}

void compare_singles(const std::vector<RowFeature>& features, const RowNames& names,
                     Findings& findings) {
  for (const RowFeature& feature : features) {
    if (feature.for_pairs) continue;
    const Contrast contrast = feature.contrast();
    if (!could_be_significant(contrast)) continue;
    findings.count_tests(feature.tests);
    if (smoothed_difference(contrast) >= kScoreMin) findings.add(finding_of(feature, names));
  }
}

struct Half {
  const RowFeature* feature;
  double score;
};

bool is_circumstance(const RowFeature& feature) {
  const std::string& kind = feature.name->place.front();
  return kind == kHourPlace || kind == kAgePlace;
}

// The best features, each with a different set of messages.
std::vector<Half> halves_of(const std::vector<RowFeature>& features) {
  std::vector<Half> halves;
  for (const RowFeature& feature : features) {
    const double score = smoothed_difference(feature.contrast());
    if (score >= kScoreMin && !is_circumstance(feature)) halves.push_back({&feature, score});
  }
  std::ranges::stable_sort(halves, std::greater(), &Half::score);
  std::vector<Half> out;
  for (const Half& half : halves) {
    if (out.size() == kPairFeaturesMax) break;
    const bool known = std::ranges::any_of(out, [&](const Half& other) {
      return other.feature->with.dead == half.feature->with.dead &&
             other.feature->with.processed == half.feature->with.processed;
    });
    if (!known) out.push_back(half);
  }
  return out;
}

RowFeature both(const RowFeature& a, const RowFeature& b) {
  RowFeature pair = a;
  pair.with = a.with & b.with;
  pair.known = a.known & b.known;
  pair.with = pair.with & pair.known;
  return pair;
}

Finding finding_of_pair(const RowFeature& a, const RowFeature& b, const RowNames& names) {
  Finding first = finding_of(a, names);
  Finding second = finding_of(b, names);
  std::string filter;
  if (!first.filter.empty() && !second.filter.empty()) {
    filter = fmt::format("{} and {}", first.filter, second.filter);
  }
  return {.kind = DistinctionKind::pair,
          .contrast = both(a, b).contrast(),
          .place = {"pair"},
          .feature = fmt::format("{} and {}", first.feature, second.feature),
          .predicate = fmt::format("{} and {}", first.predicate, second.predicate),
          .filter = std::move(filter),
          .verb = "do",
          .parts = {std::move(first.place), std::move(second.place)}};
}

void compare_pairs(const std::vector<RowFeature>& features, const RowNames& names,
                   Findings& findings) {
  const std::vector<Half> halves = halves_of(features);
  const Half* best_a = nullptr;
  const Half* best_b = nullptr;
  double best = 0;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    for (std::size_t k = i + 1; k < halves.size(); ++k) {
      const Half& a = halves[i];
      const Half& b = halves[k];
      if (a.feature->name == b.feature->name) continue;
      findings.count_tests(1);
      const double score = smoothed_difference(both(*a.feature, *b.feature).contrast());
      if (score <= best || score < a.score + kPairGain) continue;  // a has the higher score.
      best = score;
      best_a = &a;
      best_b = &b;
    }
  }
  if (best_a != nullptr) findings.add(finding_of_pair(*best_a->feature, *best_b->feature, names));
}

}  // namespace

void compare_rows(const RowSample& dead, const RowSample& processed, const RowNames& names,
                  const std::function<bool(PathHash)>& is_exact, Findings& findings) {
  if (dead.rows().empty() || processed.rows().empty()) return;
  const std::vector<RowFeature> features = find_row_features(dead, processed, names, is_exact);
  compare_singles(features, names, findings);
  if (findings.best_score() < kExplainsAlone) compare_pairs(features, names, findings);
}

}  // namespace redrive::triage
