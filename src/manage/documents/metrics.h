#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/wire/shape.h"

namespace redrive::documents {

// One line of a chart: a metric of a queue, a function or a mapping, or of the server.
struct SeriesQuery {
  std::string_view queue;  // Name or ARN.
  std::string_view function;
  std::string_view mapping;
  std::string_view metric;
};
consteval auto shape_of(SeriesQuery*) {
  using In = SeriesQuery;
  return wire::shape(wire::optional("queue", &In::queue),
                     wire::optional("function", &In::function),
                     wire::optional("mapping", &In::mapping),
                     wire::required("metric", &In::metric));
}

// POST metrics/query: several lines over the same time.
struct MetricsQuery {
  std::int64_t from = 0;  // Seconds since 1970.
  std::int64_t to = 0;
  std::optional<std::int64_t> step;  // Seconds; 60 if absent.
  std::vector<SeriesQuery> series;
};
consteval auto shape_of(MetricsQuery*) {
  using In = MetricsQuery;
  return wire::shape(
      wire::required("from", &In::from).between(0, 253'402'300'799, "Must be seconds since 1970."),
      wire::required("to", &In::to).between(0, 253'402'300'799, "Must be seconds since 1970."),
      wire::optional("step", &In::step).between(1, 86'400, "Must be between 1 and 86400."),
      wire::required("series", &In::series).each("series"));
}

}  // namespace redrive::documents
