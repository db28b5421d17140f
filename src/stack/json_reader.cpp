#include <fmt/format.h>
#include <simdjson.h>

#include "stack/node.h"

namespace redrive::stack {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// simdjson limits the depth.
Node node_of_json(element value) {
  switch (value.type()) {
    case element_type::ARRAY: {
      Node list = Node::list();
      for (const element item : simdjson::dom::array(value)) {
        list.items().push_back(node_of_json(item));
      }
      return list;
    }
    case element_type::OBJECT: {
      Node map = Node::map();
      for (const auto [name, item] : simdjson::dom::object(value)) {
        map.members().emplace_back(name, node_of_json(item));
      }
      return map;
    }
    case element_type::STRING:
      return Node::text(std::string(std::string_view(value)));
    case element_type::BOOL:
      return Node::flag(bool(value));
    case element_type::NULL_VALUE:
      return {};
    default:
      return Node::number(simdjson::minify(value));
  }
}

constexpr std::size_t kJsonBytesMax = 64u << 20;
constexpr std::size_t kJsonDepthMax = 64;

}  // namespace

Result<Node> read_json(std::string_view text) {
  simdjson::dom::parser parser(kJsonBytesMax);
  if (parser.allocate(text.size() + 1, kJsonDepthMax) != simdjson::SUCCESS) {
    return fail(ErrorCode::usage, "the document is too large");
  }
  element root;
  const auto error = parser.parse(text.data(), text.size()).get(root);
  if (error != simdjson::SUCCESS) {
    return fail(ErrorCode::usage,
                fmt::format("not valid JSON: {}", simdjson::error_message(error)));
  }
  return node_of_json(root);
}

}  // namespace redrive::stack
