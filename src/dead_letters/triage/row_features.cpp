#include "dead_letters/triage/row_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace redrive::triage {
namespace {

// Row index over both sides: the processed follow the dead.
using RowNumber = std::uint16_t;
constexpr std::size_t kRowNumbers = 2 * RowSample::kRowsMax;

struct RowItem {
  RowEntry entry;
  RowNumber row = 0;
};

void insert(RowSets& sets, RowNumber row) {
  if (row < RowSample::kRowsMax) {
    sets.dead.set(row);
  } else {
    sets.processed.set(row - RowSample::kRowsMax);
  }
}

struct Measured {
  double value = 0;
  RowNumber row = 0;
};

// A timestamp or sequence: its value only reflects when the message was sent.
constexpr double kFollowsTime = 0.9;
constexpr std::size_t kCorrelationRowsMin = 8;

class FeatureFinder {
 public:
  FeatureFinder(const RowSample& dead, const RowSample& processed, const RowNames& names,
                const std::function<bool(PathHash)>& is_exact)
      : names_(names), is_exact_(is_exact) {
    sent_.fill(std::nan(""));
    take_rows(dead, 0);
    take_rows(processed, RowSample::kRowsMax);
    std::ranges::sort(items_, [](const RowItem& a, const RowItem& b) {
      return a.entry != b.entry ? comes_before(a.entry, b.entry) : a.row < b.row;
    });
  }

  std::vector<RowFeature> run() {
    for (std::size_t begin = 0; begin < items_.size();) {
      std::size_t end = begin;
      while (end < items_.size() && items_[end].entry.path == items_[begin].entry.path) ++end;
      path(std::span(items_).subspan(begin, end - begin));
      begin = end;
    }
    return std::move(features_);
  }

 private:
  using Test = RowFeature::Test;
  using Measure = RowFeature::Measure;

  void take_rows(const RowSample& sample, std::size_t first) {
    static const PathHash kSent = path_hash(PathHash{0}, kSentPlace);
    for (std::size_t i = 0; i < sample.rows().size(); ++i) {
      const Row& row = sample.rows()[i];
      const auto number = static_cast<RowNumber>(first + i);
      insert(all_, number);
      if (row.body_read && !row.cut) insert(complete_, number);
      for (const RowEntry& entry : row.entries) {
        if (entry.path == kSent) sent_[number] = number_in(entry);
        items_.push_back({entry, number});
      }
    }
  }

  void path(std::span<const RowItem> items) {
    const RowNames::Path* name = names_.find(items.front().entry.path);
    if (name == nullptr || name->place.empty()) return;
    const std::string& kind = name->place.front();
    if (kind == kSentPlace) return;
    const bool body = kind == "body";
    RowFeature about{.name = name, .known = body ? complete_ : all_};
    for (const RowItem& item : items) insert(about.with, item.row);
    about.known = about.known | about.with;
    if (kind == kAgePlace) return thresholds(about, Measure::number, items);
    if (body || kind == "attribute") presence(about, items);
    values(about, items, !is_exact_(items.front().entry.path));
    if (!body && kind != "attribute") return;
    if (!follows_time(items)) thresholds(about, Measure::number, items);
    patterns(about, items);  // Before lengths: the first of two equally good ones is reported.
    thresholds(about, Measure::characters, items);
    thresholds(about, Measure::items, items);
  }

  void presence(const RowFeature& about, std::span<const RowItem> items) {
    RowFeature present = about;
    present.for_pairs = true;
    features_.push_back(present);
    present.test = Test::absent;
    present.with = {about.known.dead & ~about.with.dead,
                    about.known.processed & ~about.with.processed};
    features_.push_back(present);
    std::array<RowSets, kJsonTypes> types;
    for (const RowItem& item : items) {
      insert(types[static_cast<std::size_t>(item.entry.type)], item.row);
    }
    for (std::size_t i = 0; i < kJsonTypes; ++i) {
      if (types[i].dead.none() || about.name->place.front() != "body") continue;
      present.test = Test::type;
      present.type = static_cast<JsonType>(i);
      present.with = types[i];
      features_.push_back(present);
    }
  }

  void values(const RowFeature& about, std::span<const RowItem> items, bool alone) {
    for (std::size_t begin = 0; begin < items.size();) {
      const RowEntry& entry = items[begin].entry;
      RowSets with;
      std::size_t end = begin;
      for (; end < items.size() && items[end].entry == entry; ++end) insert(with, items[end].row);
      begin = end;
      const bool scalar = entry.type == JsonType::string || entry.type == JsonType::number ||
                          entry.type == JsonType::boolean;
      const bool named = entry.type != JsonType::string || names_.text(entry.value) != nullptr;
      // A value of a single dead letter is not a pattern.
      if (!scalar || !named || with.dead.count() < 2) continue;
      RowFeature value = about;
      value.test = Test::value;
      value.type = entry.type;
      value.value = entry.value;
      value.with = with;
      value.for_pairs = !alone;
      features_.push_back(value);
    }
  }

  void patterns(const RowFeature& about, std::span<const RowItem> items) {
    std::array<RowSets, kTextPatterns> having;
    RowSets texts;
    for (const RowItem& item : items) {
      if (item.entry.type != JsonType::string) continue;
      insert(texts, item.row);
      for (std::size_t i = 0; i < kTextPatterns; ++i) {
        if ((item.entry.patterns >> i & 1) != 0) insert(having[i], item.row);
      }
    }
    for (std::size_t i = 0; i < kTextPatterns; ++i) {
      if (having[i].dead.none() && having[i].processed.none()) continue;
      RowFeature one = about;
      one.test = Test::pattern;
      one.pattern = static_cast<TextPattern>(i);
      one.with = having[i];
      features_.push_back(one);
      one.test = Test::no_pattern;
      one.with = {texts.dead & ~having[i].dead, texts.processed & ~having[i].processed};
      features_.push_back(one);
    }
  }

  static std::optional<double> measured(const RowEntry& entry, Measure measure) {
    if (measure == Measure::number && entry.type == JsonType::number) return number_in(entry);
    if (measure == Measure::characters && entry.type == JsonType::string) return entry.length;
    if (measure == Measure::items && entry.type == JsonType::array) {
      return static_cast<double>(entry.value);
    }
    return std::nullopt;
  }

  // For rows with several values, the largest or the smallest.
  static std::vector<Measured> extremes(std::span<const RowItem> items, Measure measure,
                                        bool largest) {
    std::map<RowNumber, double> of_row;
    for (const RowItem& item : items) {
      const auto value = measured(item.entry, measure);
      if (!value) continue;
      const auto [at, fresh] = of_row.try_emplace(item.row, *value);
      if (!fresh)
        at->second = largest ? std::max(at->second, *value) : std::min(at->second, *value);
    }
    std::vector<Measured> out;
    for (const auto& [row, value] : of_row) out.push_back({value, row});
    std::ranges::sort(out, {}, &Measured::value);
    return out;
  }

  // The best threshold in either direction.
  void thresholds(const RowFeature& about, Measure measure, std::span<const RowItem> items) {
    RowFeature best = about;
    best.measure = measure;
    double best_score = 0;
    std::size_t tests = 0;
    for (const bool at_least : {true, false}) {
      const std::vector<Measured> values = extremes(items, measure, at_least);
      RowSets with;
      for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        // Adds one row after the other, starting at the end that the direction begins with.
        const std::size_t at = at_least ? values.size() - 1 - i : i;
        insert(with, values[at].row);
        const double low = at_least ? values[at - 1].value : values[at].value;
        const double high = at_least ? values[at].value : values[at + 1].value;
        if (low == high) continue;
        ++tests;
        RowFeature one = about;
        one.with = with;
        const double score = smoothed_difference(one.contrast());
        if (score <= best_score) continue;
        best_score = score;
        best.with = with;
        best.test = at_least ? Test::at_least : Test::below;
        best.threshold = roundest_between(low, high);
      }
    }
    best.tests = tests;
    if (best_score > 0) features_.push_back(best);
  }

  bool follows_time(std::span<const RowItem> items) const {
    std::vector<double> values;
    std::vector<double> times;
    for (const RowItem& item : items) {
      const bool usable = item.entry.type == JsonType::number && !std::isnan(sent_[item.row]) &&
                          item.row >= RowSample::kRowsMax;
      if (!usable) continue;
      values.push_back(number_in(item.entry));
      times.push_back(sent_[item.row]);
    }
    return values.size() >= kCorrelationRowsMin &&
           std::abs(rank_correlation(values, times)) >= kFollowsTime;
  }

  const RowNames& names_;
  const std::function<bool(PathHash)>& is_exact_;
  RowSets all_;
  RowSets complete_;
  std::array<double, kRowNumbers> sent_;
  std::vector<RowItem> items_;
  std::vector<RowFeature> features_;
};

// Equal values get the average of their ranks.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = static_cast<double>(begin + end - 1) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = rank;
  }
  return ranks;
}

}  // namespace

Contrast RowFeature::contrast() const {
  return {with.dead.count(), known.dead.count(), with.processed.count(), known.processed.count()};
}

std::vector<RowFeature> find_row_features(const RowSample& dead, const RowSample& processed,
                                          const RowNames& names,
                                          const std::function<bool(PathHash)>& is_exact) {
  return FeatureFinder(dead, processed, names, is_exact).run();
}

double roundest_between(double low, double high) {
  const double largest = std::max(std::abs(low), std::abs(high));
  if (!(low < high) || !std::isfinite(largest)) return high;
  constexpr int kDigitsMax = 17;
  const int first = static_cast<int>(std::floor(std::log10(largest))) + 1;
  for (int exponent = first; exponent > first - kDigitsMax; --exponent) {
    // Powers of ten below 1 are inexact, their inverses are not.
    const double power = std::pow(10.0, std::abs(exponent));
    const double steps = std::floor(exponent < 0 ? low * power : low / power) + 1;
    const double round = exponent < 0 ? steps / power : steps * power;
    if (round > low && round <= high) return round;
  }
  return high;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_of(a);
  const std::vector<double> y = ranks_of(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double together = 0;
  double x_alone = 0;
  double y_alone = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    together += (x[i] - mean) * (y[i] - mean);
    x_alone += (x[i] - mean) * (x[i] - mean);
    y_alone += (y[i] - mean) * (y[i] - mean);
  }
  const double scale = std::sqrt(x_alone * y_alone);
  return scale == 0 ? 0 : together / scale;
}

}  // namespace redrive::triage
