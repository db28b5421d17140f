#include "dead_letters/triage/rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <span>

#include "dead_letters/triage/field_pairs.h"
#include "dead_letters/triage/filter_text.h"
#include "dead_letters/triage/finding.h"
#include "dead_letters/triage/row_comparison.h"
#include "dead_letters/triage/significance.h"

namespace redrive::triage {
namespace {

class Comparison {
 public:
  Comparison(const FeatureCounts& dead, const FeatureCounts& processed)
      : dead_(dead), processed_(processed) {}

  std::vector<Candidate> run() {
    body_kinds();
    attributes();
    keys();
    message_group();
    sizes();
    rows();
    return findings_.take();
  }

 private:
  Contrast of_all(std::uint64_t dead, std::uint64_t processed) const {
    return {dead, dead_.total(), processed, processed_.total()};
  }
  Contrast of_looked_into(std::uint64_t dead, std::uint64_t processed) const {
    return {dead, dead_.looked_into(), processed, processed_.looked_into()};
  }
  static Contrast opposite(Contrast c) {
    return {c.dead_total - c.dead_with,
            c.dead_total,
            c.processed_total - c.processed_with,
            c.processed_total};
  }

  void consider(Finding finding) { findings_.consider(std::move(finding)); }

  // Adds names that only the processed have to those of the dead.
  void rows() {
    if (dead_.names() == nullptr) return;
    RowNames names = *dead_.names();
    for (const AttributeCounts& attribute : processed_.attributes()) {
      RowNames::Path path{fmt::format("attribute {}", attribute.name),
                          fmt::format("attribute.{}", attribute.name),
                          {"attribute", attribute.name}};
      names.add_path(path_hash(path.place), std::move(path));
    }
    for (const FieldPair& pair : pair_fields(dead_.json(), processed_.json())) {
      names.add_path(path_hash(pair.place), {pair.path, pair.filter, pair.place});
    }
    compare_rows(
        dead_.sample(),
        processed_.sample(),
        names,
        [&](PathHash path) { return exact_.contains(path); },
        findings_);
  }

  void body_kinds() {
    const auto json = [](const FeatureCounts& counts) {
      return counts.of_kind(BodyKind::json_object) + counts.of_kind(BodyKind::json_array) +
             counts.of_kind(BodyKind::json_other);
    };
    consider({.kind = DistinctionKind::body_kind,
              .contrast = opposite(of_looked_into(json(dead_), json(processed_))),
              .place = {"body"},
              .feature = "not JSON",
              .predicate = "have a body that is not JSON",
              .filter = "body.$ missing"});
    for (std::size_t i = 0; i < kBodyKinds; ++i) body_kind(static_cast<BodyKind>(i));
  }

  void body_kind(BodyKind kind) {
    if (kind == BodyKind::large) return;  // Covered by size.
    std::string filter;
    if (kind == BodyKind::json_object) filter = "body.$ is object";
    if (kind == BodyKind::json_array) filter = "body.$ is array";
    consider({.kind = DistinctionKind::body_kind,
              .contrast = of_looked_into(dead_.of_kind(kind), processed_.of_kind(kind)),
              .place = {"body", ""},
              .feature = std::string(describe(kind)),
              .predicate = fmt::format("have a body that is {}", describe(kind)),
              .filter = filter});
  }

  void attributes() {
    std::set<std::string_view> names;
    for (const FeatureCounts* counts : {&dead_, &processed_}) {
      for (const AttributeCounts& attribute : counts->attributes()) names.insert(attribute.name);
    }
    for (const std::string_view name : names) attribute(name);
  }

  void attribute(std::string_view name) {
    static const AttributeCounts kNone;
    const AttributeCounts* dead = dead_.find_attribute(name);
    const AttributeCounts* processed = processed_.find_attribute(name);
    const bool unknown = (dead == nullptr && dead_.attributes_full()) ||
                         (processed == nullptr && processed_.attributes_full());
    if (unknown) return;
    if (dead == nullptr) dead = &kNone;
    if (processed == nullptr) processed = &kNone;
    const Finding about{.contrast = of_all(dead->with, processed->with),
                        .place = {"attribute", std::string(name)},
                        .feature = std::string(name)};
    const std::string filter = fmt::format("attribute.{}", name);
    presence(about,
             {DistinctionKind::attribute_missing, DistinctionKind::attribute_present},
             fmt::format("attribute {}", name),
             filter);
    each_value(dead->types, processed->types, [&](std::string_view type, Contrast contrast) {
      Finding finding = about;
      finding.kind = DistinctionKind::attribute_type;
      finding.contrast = contrast;
      finding.predicate = fmt::format("have attribute {} as {}", name, type);
      finding.filter = fmt::format("{} is {}", filter, filter_literal(type));
      consider(std::move(finding));
    });
    mark_exact(about.place, dead->values, processed->values);
    each_value(dead->values, processed->values, [&](std::string_view value, Contrast contrast) {
      Finding finding = about;
      finding.kind = DistinctionKind::attribute_value;
      finding.contrast = contrast;
      finding.predicate = fmt::format("have attribute {} = {}", name, value);
      finding.filter = fmt::format("{} == {}", filter, filter_literal(value));
      consider(std::move(finding));
    });
  }

  struct Presence {
    DistinctionKind missing;
    DistinctionKind present;
  };

  void presence(const Finding& about, Presence kinds, const std::string& what,
                const std::string& filter) {
    Finding missing = about;
    missing.kind = kinds.missing;
    missing.contrast = opposite(about.contrast);
    missing.predicate = "lack " + what;
    missing.filter = filter + " missing";
    consider(std::move(missing));
    Finding present = about;
    present.kind = kinds.present;
    present.predicate = "have " + what;
    present.filter = filter + " present";
    consider(std::move(present));
  }

  // Visits the values of the dead. If either side has many, single values are unknown.
  template <class Consider>
  void each_value(const ValueCounts& dead, const ValueCounts& processed, Consider each) const {
    if (dead.many() || processed.many()) return;
    for (const ValueCounts::Value& value : dead.values()) {
      each(value.text, of_all(value.count, processed.count_of(value.text)));
    }
  }

  // Values compared here need not be compared in the samples.
  void mark_exact(const std::vector<std::string>& place, const ValueCounts& dead,
                  const ValueCounts& processed) {
    if (!dead.many() && !processed.many()) exact_.insert(path_hash(place));
  }

  void keys() {
    for (const FieldPair& pair : pair_fields(dead_.json(), processed_.json())) key(pair);
  }

  void key(const FieldPair& pair) {
    const Finding about{.contrast = of_looked_into(pair.dead->with, pair.processed->with),
                        .place = pair.place,
                        .feature = pair.path};
    presence(about,
             {DistinctionKind::key_missing, DistinctionKind::key_present},
             "key " + pair.path,
             pair.filter);
    for (std::size_t i = 0; i < kJsonTypes; ++i) key_type(pair, about, static_cast<JsonType>(i));
    mark_exact(pair.place, pair.dead->values, pair.processed->values);
    each_value(
        pair.dead->values, pair.processed->values, [&](std::string_view value, Contrast contrast) {
          key_value(pair, about, value, contrast);
        });
  }

  void key_type(const FieldPair& pair, Finding finding, JsonType type) {
    const auto i = static_cast<std::size_t>(type);
    if (pair.dead->types[i] == 0) return;
    finding.kind = DistinctionKind::key_type;
    finding.contrast = of_looked_into(pair.dead->types[i], pair.processed->types[i]);
    finding.predicate = fmt::format("have {} as {}", pair.path, name_of(type));
    finding.filter = fmt::format("{} is {}", pair.filter, name_of(type));
    const auto usual = static_cast<std::size_t>(std::ranges::max_element(pair.processed->types) -
                                                pair.processed->types.begin());
    if (pair.processed->with > 0 && usual != i) {
      finding.remark = fmt::format(": {}", name_of(static_cast<JsonType>(usual)));
    }
    consider(std::move(finding));
  }

  void key_value(const FieldPair& pair, Finding finding, std::string_view value,
                 Contrast contrast) {
    const bool is_string = value.starts_with('"');
    if (is_string) value.remove_prefix(1);
    finding.kind = DistinctionKind::key_value;
    finding.contrast = of_looked_into(contrast.dead_with, contrast.processed_with);
    finding.predicate = fmt::format("have {} = {}", pair.path, value);
    finding.filter = fmt::format(
        "{} == {}", pair.filter, is_string ? filter_literal(value) : std::string(value));
    consider(std::move(finding));
  }

  void message_group() {
    const Finding about{.contrast = of_all(dead_.with_group(), processed_.with_group()),
                        .place = {"message group"}};
    presence(about,
             {DistinctionKind::message_group, DistinctionKind::message_group},
             "a message group",
             "message_group");
  }

  // Only the best threshold is reported; the others follow from it.
  void sizes() {
    std::uint64_t dead = 0;
    std::uint64_t processed = 0;
    Finding best{.kind = DistinctionKind::size};
    double score = 0;
    for (std::size_t digits = 0; digits + 1 < FeatureCounts::kSizeBuckets; ++digits) {
      dead += dead_.sizes()[digits];
      processed += processed_.sizes()[digits];
      const std::uint64_t limit = std::uint64_t{1} << digits;
      const Contrast smaller = of_all(dead, processed);
      findings_.count_tests(1);
      for (const bool larger : {false, true}) {
        const Contrast contrast = larger ? opposite(smaller) : smaller;
        // Among equally good thresholds, the one closest to the dead.
        const double difference = smoothed_difference(contrast);
        if (larger ? difference < score || difference == 0 : difference <= score) continue;
        score = difference;
        best.contrast = contrast;
        best.predicate = fmt::format("are {} {}", larger ? "at least" : "under", size_text(limit));
        best.filter = fmt::format("size {} {}", larger ? ">=" : "<", limit);
      }
    }
    best.place = {"size"};
    best.verb = "are";
    if (score > 0) consider(std::move(best));
  }

  static std::string size_text(std::uint64_t bytes) {
    if (bytes >= 1024 * 1024) return fmt::format("{} MiB", bytes / (1024 * 1024));
    if (bytes >= 1024) return fmt::format("{} KiB", bytes / 1024);
    return fmt::format("{} bytes", bytes);
  }

  const FeatureCounts& dead_;
  const FeatureCounts& processed_;
  Findings findings_;
  std::set<PathHash> exact_;  // Paths whose values were compared by exact counts.
};

// Sizes and times are usually effects rather than causes: any other finding is preferred.
bool is_circumstantial(DistinctionKind kind) {
  return kind == DistinctionKind::size || kind == DistinctionKind::hour ||
         kind == DistinctionKind::age;
}

bool is_range(DistinctionKind kind) {
  return kind == DistinctionKind::key_range || kind == DistinctionKind::attribute_range ||
         kind == DistinctionKind::key_length || kind == DistinctionKind::key_pattern ||
         kind == DistinctionKind::attribute_pattern;
}

bool is_value(DistinctionKind kind) {
  return kind == DistinctionKind::key_value || kind == DistinctionKind::attribute_value;
}

// A smaller difference in score is negligible.
constexpr double kHardly = 0.05;

// Whether `below` is part of the pair `above`, or a single value in the range `above`.
bool is_contained(const Candidate& above, const Candidate& below) {
  if (above.distinction.kind == DistinctionKind::pair) {
    return above.distinction.score > below.distinction.score &&
           std::ranges::find(above.parts, below.place) != above.parts.end();
  }
  return is_range(above.distinction.kind) && is_value(below.distinction.kind) &&
         above.place == below.place && above.distinction.score > below.distinction.score + kHardly;
}

// Whether `below` is redundant given `above`: it is about the same field or part of it, and its
// score is not notably better. Both are elements of one vector.
bool explains(const Candidate& above, const Candidate& below) {
  if (is_contained(above, below)) return true;
  const DistinctionKind above_kind = above.distinction.kind;
  const DistinctionKind below_kind = below.distinction.kind;
  // Of several ranges, lengths and patterns of one value, only the best is reported.
  if (is_range(above_kind) && is_range(below_kind) && above.place == below.place) {
    const double gain = above.distinction.score - below.distinction.score;
    return gain > 0 || (gain == 0 && &above < &below);
  }
  if (above.distinction.score + kHardly < below.distinction.score) return false;
  if (is_circumstantial(below_kind)) {
    return is_circumstantial(above_kind) ? above_kind < below_kind : true;
  }
  const bool part =
      above.place.size() <= below.place.size() &&
      std::ranges::equal(above.place, std::span(below.place).first(above.place.size()));
  if (!part) return false;
  return above.place.size() < below.place.size() || above_kind < below_kind;
}

}  // namespace

std::string_view name_of(DistinctionKind kind) {
  constexpr std::array<std::string_view, 22> kNames = {
      "body-kind",
      "attribute-missing",
      "attribute-present",
      "attribute-type",
      "attribute-value",
      "key-missing",
      "key-present",
      "key-type",
      "key-value",
      "message-group",
      "size",
      "key-range",
      "key-length",
      "key-pattern",
      "attribute-range",
      "attribute-pattern",
      "code-version",
      "host",
      "consumer",
      "hour",
      "age",
      "pair",
  };
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Distinction> rank(const FeatureCounts& dead, const FeatureCounts& processed,
                              std::size_t max) {
  const std::vector<Candidate> candidates = Comparison(dead, processed).run();
  std::vector<Distinction> result;
  for (const Candidate& one : candidates) {
    const bool explained = std::ranges::any_of(
        candidates, [&](const Candidate& other) { return explains(other, one); });
    if (!explained) result.push_back(one.distinction);
  }
  std::ranges::stable_sort(result, std::greater(), &Distinction::score);
  if (result.size() > max) result.resize(max);
  return result;
}

}  // namespace redrive::triage
