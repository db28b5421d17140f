#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redrive::http {

// Values of a pattern's {names} in one request, percent-decoded.
using PathParameters = std::vector<std::pair<std::string_view, std::string>>;

// Matches a path against a pattern of literal segments and {names}, each of which matches one
// non-empty segment: /_redrive/v1/queues/{queue}. Returns nullopt if the path does not match. The
// names point into the pattern.
std::optional<PathParameters> fit_path(std::string_view pattern, std::string_view path);

}  // namespace redrive::http
