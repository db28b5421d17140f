#include "manage/route.h"

namespace redrive::manage {

Match find_route(std::span<const Route> routes, std::string_view method, std::string_view path) {
  Match match;
  for (const Route& route : routes) {
    auto parameters = http::fit_path(route.pattern, path);
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
