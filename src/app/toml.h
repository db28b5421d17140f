#pragma once

// toml++ as this module uses it: errors are values, and name their file and line.

#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace redrive::app {

inline std::unexpected<Error> unusable(const std::string& file, const toml::node& node,
                                       std::string_view what) {
  return fail(ErrorCode::usage, fmt::format("{}:{}: {}", file, node.source().begin.line, what));
}

// The value if the node has exactly that type: no numbers as texts, no texts as flags.
template <class T>
bool take(const toml::node& node, T& place) {
  const auto value = node.value_exact<T>();
  if (value) place = *value;
  return value.has_value();
}

template <class T>
bool take_number(const toml::node& node, T& place) {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < 0 || *value > 1'000'000) return false;
  place = T(*value);
  return true;
}

inline bool take_list(const toml::node& node, std::vector<std::string>& place) {
  const toml::array* const list = node.as_array();
  if (list == nullptr) return false;
  place.clear();
  for (const toml::node& item : *list) {
    if (!take(item, place.emplace_back())) return false;
  }
  return true;
}

}  // namespace redrive::app
