#include "net/http/path_pattern.h"

#include "base/text.h"

namespace redrive::http {
namespace {

bool is_parameter(std::string_view segment) {
  return segment.starts_with('{') && segment.ends_with('}');
}

}  // namespace

std::optional<PathParameters> fit_path(std::string_view pattern, std::string_view path) {
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

}  // namespace redrive::http
