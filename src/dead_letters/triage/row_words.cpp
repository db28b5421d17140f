#include "dead_letters/triage/row_words.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "dead_letters/triage/filter_text.h"

namespace redrive::triage {
namespace {

using Test = RowFeature::Test;
using Measure = RowFeature::Measure;

std::string number_text(double number) {
  constexpr double kExact = 9'007'199'254'740'992;  // Integers are exact up to 2^53.
  if (std::abs(number) < kExact && number == std::floor(number)) {
    return fmt::format("{}", static_cast<std::int64_t>(number));
  }
  return fmt::format("{}", number);
}

std::string seconds_text(double seconds) {
  if (seconds >= 7200) return fmt::format("{} h", number_text(std::round(seconds / 360) / 10));
  if (seconds >= 120) return fmt::format("{} min", number_text(std::round(seconds / 6) / 10));
  return fmt::format("{} s", number_text(seconds));
}

class FeatureWords {
 public:
  FeatureWords(const RowFeature& feature, const RowNames& names)
      : feature_(feature), names_(names), path_(*feature.name) {}

  Finding write() {
    out_.contrast = feature_.contrast();
    const std::string& kind = path_.place.front();
    out_.place = path_.place;
    if (kind == "body") {
      out_.feature = path_.path;
      body_or_attribute();
    } else if (kind == "attribute") {
      out_.feature = path_.place.back();
      attribute_ = true;
      body_or_attribute();
    } else {
      delivery(kind);
    }
    return std::move(out_);
  }

 private:
  struct Value {
    std::string shown;
    std::string literal;  // For a filter.
  };

  Value value() const {
    if (feature_.type == JsonType::string) {
      const std::string* text = names_.text(feature_.value);
      return {text == nullptr ? "?" : *text, text == nullptr ? "" : filter_literal(*text)};
    }
    if (feature_.type == JsonType::boolean) {
      const std::string text = feature_.value != 0 ? "true" : "false";
      return {text, text};
    }
    const std::string text = number_text(std::bit_cast<double>(feature_.value));
    return {text, text};
  }

  void body_or_attribute() {
    switch (feature_.test) {
      case Test::present:
      case Test::absent:
        return presence(feature_.test == Test::present);
      case Test::type:
        out_.kind = DistinctionKind::key_type;
        out_.predicate = fmt::format("have {} as {}", path_.path, name_of(feature_.type));
        out_.filter = fmt::format("{} is {}", path_.filter, name_of(feature_.type));
        return;
      case Test::value: {
        const Value value = this->value();
        out_.kind = attribute_ ? DistinctionKind::attribute_value : DistinctionKind::key_value;
        out_.predicate = fmt::format("have {} = {}", path_.path, value.shown);
        if (!value.literal.empty()) {
          out_.filter = fmt::format("{} == {}", path_.filter, value.literal);
        }
        return;
      }
      case Test::pattern:
      case Test::no_pattern:
        return pattern(feature_.test == Test::pattern);
      case Test::at_least:
      case Test::below:
        return threshold(feature_.test == Test::at_least);
    }
  }

  void presence(bool present) {
    const std::string what = attribute_ ? path_.path : "key " + path_.path;
    out_.predicate = fmt::format("{} {}", present ? "have" : "lack", what);
    out_.filter = fmt::format("{} {}", path_.filter, present ? "present" : "missing");
    if (attribute_) {
      out_.kind = present ? DistinctionKind::attribute_present : DistinctionKind::attribute_missing;
    } else {
      out_.kind = present ? DistinctionKind::key_present : DistinctionKind::key_missing;
    }
  }

  void pattern(bool holds) {
    out_.kind = attribute_ ? DistinctionKind::attribute_pattern : DistinctionKind::key_pattern;
    out_.predicate = fmt::format("have {} {}", path_.path, describe(feature_.pattern, holds));
    if (feature_.pattern == TextPattern::empty && holds) {
      out_.filter = fmt::format("{} == \"\"", path_.filter);
    }
  }

  void threshold(bool at_least) {
    const std::string limit = number_text(feature_.threshold);
    switch (feature_.measure) {
      case Measure::number:
        out_.kind = attribute_ ? DistinctionKind::attribute_range : DistinctionKind::key_range;
        out_.predicate = fmt::format("have {} {} {}", path_.path, at_least ? ">=" : "<", limit);
        out_.filter = fmt::format("{} {} {}", path_.filter, at_least ? ">=" : "<", limit);
        return;
      case Measure::characters:
        out_.kind = attribute_ ? DistinctionKind::attribute_pattern : DistinctionKind::key_pattern;
        out_.predicate = fmt::format(
            "have {} of {} {} characters", path_.path, at_least ? "at least" : "fewer than", limit);
        return;
      case Measure::items:
        return items(at_least, static_cast<std::uint64_t>(std::ceil(feature_.threshold)));
    }
  }

  // A list of at least n items has one with index n - 1.
  void items(bool at_least, std::uint64_t limit) {
    const std::string last = fmt::format("{}[{}]", path_.filter, limit > 0 ? limit - 1 : 0);
    out_.kind = DistinctionKind::key_length;
    if (at_least) {
      out_.predicate = fmt::format("have at least {} in {}", item_count(limit), path_.path);
      out_.filter = last + " present";
    } else {
      out_.predicate = limit <= 1
                           ? fmt::format("have no items in {}", path_.path)
                           : fmt::format("have fewer than {} in {}", item_count(limit), path_.path);
      out_.filter = fmt::format("{} is array and {} missing", path_.filter, last);
    }
  }
  static std::string item_count(std::uint64_t count) {
    return fmt::format("{} item{}", count, count == 1 ? "" : "s");
  }

  // Host and consumer often follow from the code version, so they share its place.
  void delivery(const std::string& kind) {
    if (kind == kVersionPlace) {
      out_.place = {"delivery"};
      out_.kind = DistinctionKind::code_version;
      out_.predicate = fmt::format("last ran on code version {}", value().shown);
      out_.verb = "did";
    } else if (kind == kHostPlace) {
      out_.place = {"delivery", "host"};
      out_.kind = DistinctionKind::host;
      out_.predicate = fmt::format("were last received from host {}", value().shown);
      out_.verb = "were";
    } else if (kind == kConsumerPlace) {
      out_.place = {"delivery", "host", "consumer"};
      out_.kind = DistinctionKind::consumer;
      out_.predicate = fmt::format("were last received by {}", value().shown);
      out_.verb = "were";
    } else if (kind == kHourPlace) {
      const auto hour = static_cast<int>(std::bit_cast<double>(feature_.value));
      out_.kind = DistinctionKind::hour;
      out_.predicate = fmt::format("were sent between {:02}:00 and {:02}:00 UTC", hour, hour + 1);
      out_.verb = "were";
    } else {
      out_.kind = DistinctionKind::age;
      out_.predicate = fmt::format("waited {} {} for the first attempt",
                                   feature_.test == Test::at_least ? "at least" : "less than",
                                   seconds_text(feature_.threshold));
      out_.verb = "did";
    }
    const bool named = kind == kVersionPlace || kind == kHostPlace || kind == kConsumerPlace;
    if (named) out_.feature = value().shown;
  }

  const RowFeature& feature_;
  const RowNames& names_;
  const RowNames::Path& path_;
  bool attribute_ = false;
  Finding out_;
};

}  // namespace

Finding finding_of(const RowFeature& feature, const RowNames& names) {
  return FeatureWords(feature, names).write();
}

}  // namespace redrive::triage
