#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redrive::http {

// What {names} stand for in one request, percent-decoded.
using PathParameters = std::vector<std::pair<std::string_view, std::string>>;

// A pattern has literal segments, and {names} that stand for one segment each, which is not empty:
// /_redrive/v1/queues/{queue}. None: the path is another. The names point into the pattern.
std::optional<PathParameters> fit_path(std::string_view pattern, std::string_view path);

}  // namespace redrive::http
