#include "observe/metrics/exposition.h"

#include <fmt/format.h>

namespace redrive::metrics {
namespace {

void append_label_value(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

std::string_view name_of(Family family) {
  switch (family) {
    case Family::counter:
      return "counter";
    case Family::gauge:
      return "gauge";
    case Family::histogram:
      return "histogram";
  }
  return "untyped";
}

}  // namespace

void Exposition::family(std::string_view name, Family family, std::string_view help) {
  name_ = name;
  fmt::format_to(
      std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, name_of(family));
}

void Exposition::line(std::string_view suffix, const Labels& labels, std::string_view bound,
                      std::string_view value) {
  text_.append(name_).append(suffix);
  char separator = '{';
  const auto add = [&](std::string_view name, std::string_view text) {
    text_ += separator;
    text_.append(name).append("=\"");
    append_label_value(text_, text);
    text_ += '"';
    separator = ',';
  };
  for (const auto& [name, text] : labels) add(name, text);
  if (!bound.empty()) add("le", bound);
  if (separator == ',') text_ += '}';
  text_.append(" ").append(value).append("\n");
}

void Exposition::sample(const Labels& labels, double value) {
  line("", labels, "", fmt::format("{}", value));
}

void Exposition::sample(const Labels& labels, std::uint64_t value) {
  line("", labels, "", fmt::format("{}", value));
}

void Exposition::sample(const Labels& labels, const Distribution& distribution, double unit,
                        std::size_t first) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i + 1 < Distribution::kBuckets; ++i) {
    below += distribution.counts[i];
    if (i < first) continue;
    const double bound = static_cast<double>(Distribution::bound(i)) * unit;
    line("_bucket", labels, fmt::format("{:.9g}", bound), fmt::format("{}", below));
  }
  const std::string total = fmt::format("{}", distribution.total());
  line("_bucket", labels, "+Inf", total);
  line("_sum", labels, "", fmt::format("{:.9g}", static_cast<double>(distribution.sum) * unit));
  line("_count", labels, "", total);
}

}  // namespace redrive::metrics
