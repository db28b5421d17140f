#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "observe/metrics/histogram.h"

namespace redrive::metrics {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

enum class Family { counter, gauge, histogram };

// Writes metrics in Prometheus' text format 0.0.4. Families are written one after another, each
// with its help and type; the caller guarantees that names are unique and that label sets within a
// family differ.
class Exposition {
 public:
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  void family(std::string_view name, Family family, std::string_view help);
  // Adds a sample to the current family.
  void sample(const Labels& labels, double value);
  void sample(const Labels& labels, std::uint64_t value);
  // For a histogram: `unit` is the factor for the values, such as 1e-6 for microseconds shown as
  // seconds. Buckets below `first` are merged into it.
  void sample(const Labels& labels, const Distribution& distribution, double unit,
              std::size_t first = 0);

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void line(std::string_view suffix, const Labels& labels, std::string_view bound,
            std::string_view value);

  std::string text_;
  std::string name_;
};

}  // namespace redrive::metrics
