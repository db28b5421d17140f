#include "manage/route.h"

#include <optional>

#include "base/text.h"

namespace redrive::manage {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

std::optional<PathParameters> fit(std::string_view pattern, std::string_view path) {
  const auto wanted = split(pattern, '/');
  const auto given = split(path, '/');
  if (wanted.size() != given.size()) return std::nullopt;
  PathParameters parameters;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (is_parameter(wanted[i]) && !given[i].empty()) {
      parameters.emplace_back(wanted[i].substr(1, wanted[i].size() - 2),
                              percent_decode(given[i], false));
    } else if (wanted[i] != given[i]) {
      return std::nullopt;
    }
  }
  return parameters;
}

}  // namespace

Match find_route(std::span<const Route> routes, std::string_view method, std::string_view path) {
  Match match;
  for (const Route& route : routes) {
    auto parameters = fit(route.pattern, path);
    if (!parameters) continue;
    if (route.method == method) {
      return {.route = &route, .parameters = *std::move(parameters), .allowed = {}};
    }
    if (!match.allowed.empty()) match.allowed += ", ";
    match.allowed += route.method;
  }
  return match;
}

}  // namespace redrive::manage
