#define TOML_EXCEPTIONS 0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>

#include "stack/node.h"
#include "stack/stack.h"

namespace redrive::stack {
namespace {

template <class Value>
std::string written(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

Node node_of_toml(const toml::node& node) {
  if (const toml::table* const table = node.as_table()) {
    Node map = Node::map();
    for (const auto& [key, value] : *table) {
      map.members().emplace_back(key.str(), node_of_toml(value));
    }
    return map;
  }
  if (const toml::array* const array = node.as_array()) {
    Node list = Node::list();
    for (const toml::node& item : *array) list.items().push_back(node_of_toml(item));
    return list;
  }
  if (const auto text = node.value_exact<std::string>()) return Node::text(*text);
  if (const auto number = node.value_exact<std::int64_t>()) return Node::number(*number);
  if (const auto number = node.value_exact<double>())
    return Node::number(fmt::format("{}", *number));
  if (const auto flag = node.value_exact<bool>()) return Node::flag(*flag);
  if (const auto date = node.value_exact<toml::date_time>()) return Node::text(written(*date));
  if (const auto day = node.value_exact<toml::date>()) return Node::text(written(*day));
  if (const auto hour = node.value_exact<toml::time>()) return Node::text(written(*hour));
  return {};
}

}  // namespace

Result<Node> read_toml(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return fail(ErrorCode::usage,
                fmt::format("line {}: {}",
                            parsed.error().source().begin.line,
                            std::string(parsed.error().description())));
  }
  return node_of_toml(parsed.table());
}

}  // namespace redrive::stack
