#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/histogram.h"

namespace redrive::metrics {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

enum class Family { counter, gauge, histogram };

// Writes metrics as Prometheus reads them: text format 0.0.4. Families one after another, each with
// its help and type; the caller promises that a name comes once and its label sets differ.
class Exposition {
 public:
  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  void family(std::string_view name, Family family, std::string_view help);
  // A sample of the family that was last begun.
  void sample(const Labels& labels, double value);
  void sample(const Labels& labels, std::uint64_t value);
  // Of a histogram: `unit` is what one is worth, such as 1e-6 for microseconds shown as seconds.
  // Buckets below `first` are summed up in it.
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
