#include <fmt/format.h>

#include <algorithm>

#include "stack/functions.h"
#include "stack/transforms.h"

namespace redrive::stack {
namespace {

constexpr std::string_view kForEach = "Fn::ForEach::";
constexpr std::size_t kLoopDepthMax = 5;

std::unexpected<Error> loop_error(std::string_view loop, std::string_view message) {
  return fail(
      ErrorCode::usage,
      fmt::format(
          "Transform {} failed with: Fn::ForEach::{}: {}", kLanguageExtensions, loop, message));
}

std::string alphanumeric(std::string_view text) {
  std::string out;
  std::ranges::copy_if(text, std::back_inserter(out), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  return out;
}

void replace_all(std::string& text, const std::string& mark, const std::string& value) {
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
}

// `${Name}` and `{"Ref": "Name"}` become the value, `&{Name}` its letters and digits.
class LoopBody {
 public:
  LoopBody(std::string name, std::string value)
      : name_(std::move(name)), value_(std::move(value)) {}

  std::string text(std::string source) const {
    replace_all(source, "${" + name_ + "}", value_);
    replace_all(source, "&{" + name_ + "}", alphanumeric(value_));
    return source;
  }

  Node node(const Node& source) const {
    if (source.is_text()) return Node::text(text(source.scalar()));
    if (source.is_scalar()) return source;
    if (is_function(source) && source.has("Ref") && source["Ref"].scalar() == name_) {
      return Node::text(value_);
    }
    Node out = source.is_map() ? Node::map() : Node::list();
    for (const Node& item : source.items()) out.items().push_back(node(item));
    for (const auto& [key, item] : source.members()) {
      out.members().emplace_back(text(key), node(item));
    }
    return out;
  }

 private:
  const std::string name_;
  const std::string value_;
};

Result<Node> without_loops(const Node& source, std::size_t depth);

Result<void> unroll(Node& out, const std::string& key, const Node& argument, std::size_t depth) {
  const std::string loop = key.substr(kForEach.size());
  if (depth > kLoopDepthMax) return loop_error(loop, "loops are nested too deeply");
  const bool formed =
      argument.items().size() == 3 && argument.items()[0].is_text() && argument.items()[2].is_map();
  if (!formed) return loop_error(loop, "expected an identifier, a collection and a map");
  const Node& collection = argument.items()[1];
  if (!collection.is_list()) return loop_error(loop, "the collection must be a list");
  for (const Node& item : collection.items()) {
    if (!item.is_scalar()) return loop_error(loop, "the collection must contain strings only");
    const LoopBody body(argument.items()[0].scalar(), item.scalar());
    const Node unrolled = TRY(without_loops(body.node(argument.items()[2]), depth + 1));
    for (const auto& [name, value] : unrolled.members()) {
      if (out.has(name)) return loop_error(loop, fmt::format("{} is defined twice", name));
      out.members().emplace_back(name, value);
    }
  }
  return {};
}

Result<Node> without_loops(const Node& source, std::size_t depth) {
  if (source.is_scalar()) return source;
  Node out = source.is_map() ? Node::map() : Node::list();
  for (const Node& item : source.items()) {
    out.items().push_back(TRY(without_loops(item, depth)));
  }
  for (const auto& [key, item] : source.members()) {
    if (key.starts_with(kForEach)) {
      RETURN_IF_ERROR(unroll(out, key, item, depth));
    } else {
      out.members().emplace_back(key, TRY(without_loops(item, depth)));
    }
  }
  return out;
}

}  // namespace

Result<Node> expand_for_each(Node root) {
  return without_loops(root, 0);
}

std::vector<std::string> transform_names(const Node& root) {
  const Node& named = root["Transform"];
  std::vector<std::string> names;
  if (named.is_text()) names.push_back(named.scalar());
  if (named.is_map()) names.push_back(named["Name"].scalar());
  for (const Node& one : named.items()) {
    names.push_back(one.is_map() ? one["Name"].scalar() : one.scalar());
  }
  return names;
}

Result<Node> apply_transforms(Node root) {
  for (const std::string& name : transform_names(root)) {
    if (name == kLanguageExtensions) {
      root = TRY(expand_for_each(std::move(root)));
    } else if (name == kSamTransform) {
      root = TRY(expand_sam(std::move(root)));
    } else {
      return fail(ErrorCode::usage, fmt::format("No transform named {} found.", name));
    }
  }
  root.remove("Transform");
  return root;
}

}  // namespace redrive::stack
