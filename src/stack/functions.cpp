#include "stack/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "stack/cidr.h"

namespace redrive::stack {
namespace {

constexpr std::size_t kFunctionDepthMax = 100;

std::unexpected<Error> template_error(std::string_view message) {
  return fail(ErrorCode::usage, fmt::format("Template error: {}", message));
}

std::unexpected<Error> format_error(std::string_view message) {
  return fail(ErrorCode::usage, fmt::format("Template format error: {}", message));
}

// Counts the levels of nested values.
class FunctionLevel {
 public:
  explicit FunctionLevel(std::size_t& depth) : depth_(++depth) {}
  ~FunctionLevel() { --depth_; }
  FunctionLevel(const FunctionLevel&) = delete;
  FunctionLevel& operator=(const FunctionLevel&) = delete;

 private:
  std::size_t& depth_;
};

}  // namespace

bool is_function(const Node& value) {
  if (!value.is_map() || value.members().size() != 1) return false;
  const std::string& name = value.members()[0].first;
  return name == "Ref" || name.starts_with("Fn::");
}

struct Functions::Row {
  std::string_view name;
  Function function;

  static const Row kRows[];
};

constexpr Functions::Row Functions::Row::kRows[] = {
    {"Ref", &Functions::ref},
    {"Fn::GetAtt", &Functions::get_attribute},
    {"Fn::Sub", &Functions::sub},
    {"Fn::Join", &Functions::join},
    {"Fn::Select", &Functions::select},
    {"Fn::Split", &Functions::split_text},
    {"Fn::FindInMap", &Functions::find_in_map},
    {"Fn::Base64", &Functions::base64},
    {"Fn::Cidr", &Functions::cidr},
    {"Fn::Length", &Functions::length},
    {"Fn::ToJsonString", &Functions::to_json},
    {"Fn::ImportValue", &Functions::import_value},
    {"Fn::GetAZs", &Functions::zones},
};

Result<Node> Functions::value(const Node& value) {
  return TRY(resolve(value)).value_or(Node());
}

Result<std::string> Functions::text(const Node& node) {
  const Node resolved = TRY(value(node));
  if (!resolved.is_scalar()) return template_error("expected a string, found a list or map");
  return resolved.scalar();
}

Functions::Resolved Functions::resolve(const Node& value) {
  if (value.is_text()) return std::optional(TRY(with_dynamic_references(value)));
  if (value.is_scalar()) return std::optional(value);
  const FunctionLevel level(depth_);
  if (depth_ > kFunctionDepthMax) return template_error("functions are nested too deeply");
  if (is_function(value)) {
    return function(value.members()[0].first, value.members()[0].second);
  }
  return std::optional(TRY(value.is_map() ? map(value) : list(value)));
}

Result<Node> Functions::map(const Node& value) {
  Node out = Node::map();
  for (const auto& [name, item] : value.members()) {
    auto resolved = TRY(resolve(item));
    if (resolved) out.members().emplace_back(name, *std::move(resolved));
  }
  return out;
}

Result<Node> Functions::list(const Node& value) {
  Node out = Node::list();
  for (const Node& item : value.items()) {
    auto resolved = TRY(resolve(item));
    if (resolved) out.items().push_back(*std::move(resolved));
  }
  return out;
}

Functions::Resolved Functions::function(const std::string& name, const Node& argument) {
  if (name == "Ref" && argument.scalar() == "AWS::NoValue") return std::optional<Node>();
  if (name == "Fn::If") return choose(argument);
  const auto row = std::ranges::find(Row::kRows, name, &Row::name);
  if (row == std::end(Row::kRows)) {
    return template_error(fmt::format("the function {} is not supported here", name));
  }
  Node result = TRY((this->*row->function)(argument));
  // What a function composes may be a dynamic reference.
  if (result.is_text()) result = TRY(with_dynamic_references(result));
  return std::optional(std::move(result));
}

// A text may contain several, each {{resolve:service:rest}}.
Result<Node> Functions::with_dynamic_references(const Node& text) {
  constexpr std::string_view kBegin = "{{resolve:";
  const std::string& source = text.scalar();
  if (!references_.dynamic || source.find(kBegin) == source.npos) return text;
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = source.find(kBegin, at);
    const std::size_t end = begin == source.npos ? begin : source.find("}}", begin);
    if (end == source.npos) return Node::text(out + source.substr(at));
    out.append(source, at, begin - at);
    const std::string_view inside =
        std::string_view(source).substr(begin + kBegin.size(), end - begin - kBegin.size());
    const std::size_t colon = std::min(inside.find(':'), inside.size());
    out += TRY(references_.dynamic(inside.substr(0, colon),
                                   inside.substr(std::min(colon + 1, inside.size()))));
    at = end + 2;
  }
}

Result<Node> Functions::ref(const Node& argument) {
  if (!argument.is_scalar() || argument.scalar().empty()) {
    return template_error("every Ref object must have a single String value.");
  }
  return references_.ref(argument.scalar());
}

Result<Node> Functions::get_attribute(const Node& argument) {
  constexpr std::string_view kRequires =
      "every Fn::GetAtt object requires two non-empty parameters, the resource name and the "
      "resource attribute";
  if (argument.is_text()) {
    const std::string& whole = argument.scalar();
    const std::size_t dot = whole.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == whole.size()) {
      return template_error(kRequires);
    }
    return references_.attribute(whole.substr(0, dot), std::string_view(whole).substr(dot + 1));
  }
  if (argument.items().size() < 2 || !argument.items()[0].is_text()) {
    return template_error(kRequires);
  }
  std::string attribute = TRY(text(argument.items()[1]));
  for (std::size_t i = 2; i < argument.items().size(); ++i) {
    attribute += "." + TRY(text(argument.items()[i]));
  }
  return references_.attribute(argument.items()[0].scalar(), attribute);
}

Result<std::string> Functions::substitute(const std::string& name, const Node& own) {
  if (const Node* const given = own.find(name)) {
    return given->is_scalar() ? given->scalar() : given->json();
  }
  const std::size_t dot = name.starts_with("AWS::") ? name.npos : name.find('.');
  const Node found =
      dot == name.npos
          ? TRY(references_.ref(name))
          : TRY(references_.attribute(name.substr(0, dot), std::string_view(name).substr(dot + 1)));
  if (found.is_scalar()) return found.scalar();
  std::string joined;
  for (const Node& item : found.items()) joined += (joined.empty() ? "" : ",") + item.scalar();
  return joined;
}

Result<Node> Functions::sub(const Node& argument) {
  const bool pair = argument.is_list() && argument.items().size() == 2;
  const Node& pattern = pair ? argument.items()[0] : argument;
  if (!pattern.is_scalar() || (pair && !argument.items()[1].is_map())) {
    return template_error(
        "One or more Fn::Sub intrinsic functions don't specify expected arguments. Specify a "
        "string as first argument, and an optional second argument to specify a mapping of values "
        "to replace in the string");
  }
  const Node own = pair ? TRY(map(argument.items()[1])) : Node::map();
  const std::string& source = pattern.scalar();
  std::string out;
  std::size_t at = 0;
  while (true) {
    const std::size_t open = source.find("${", at);
    const std::size_t close = open == source.npos ? open : source.find('}', open);
    if (close == source.npos) return Node::text(out + source.substr(at));
    out.append(source, at, open - at);
    const std::string name = source.substr(open + 2, close - open - 2);
    at = close + 1;
    if (name.starts_with('!')) {
      out.append("${").append(name, 1).append("}");
    } else {
      out += TRY(substitute(name, own));
    }
  }
}

Result<Node> Functions::join(const Node& argument) {
  const bool formed = argument.items().size() == 2 && argument.items()[0].is_scalar();
  const Node parts = formed ? TRY(value(argument.items()[1])) : Node();
  if (!parts.is_list()) {
    return template_error(
        "every Fn::Join object requires two parameters, (1) a string delimiter and (2) a list of "
        "strings to be joined or a function that returns a list of strings (such as Fn::GetAZs) to "
        "be joined.");
  }
  std::string out;
  for (const Node& part : parts.items()) {
    if (&part != parts.items().data()) out += argument.items()[0].scalar();
    out += part.is_scalar() ? part.scalar() : part.json();
  }
  return Node::text(std::move(out));
}

Result<Node> Functions::select(const Node& argument) {
  if (argument.items().size() != 2) {
    return template_error("Fn::Select requires a list argument with two elements");
  }
  const Node index = TRY(value(argument.items()[0]));
  const Node from = TRY(value(argument.items()[1]));
  if (!from.is_list()) {
    return template_error("Fn::Select requires a list argument with two elements");
  }
  const auto number = index.integer();
  if (!number || *number < 0 || static_cast<std::size_t>(*number) >= from.items().size()) {
    return template_error(
        fmt::format("Fn::Select cannot select nonexistent value at index {}", index.scalar()));
  }
  return from.items()[static_cast<std::size_t>(*number)];
}

Result<Node> Functions::split_text(const Node& argument) {
  const bool formed = argument.items().size() == 2 && argument.items()[0].is_scalar();
  if (!formed || argument.items()[0].scalar().empty()) {
    return template_error(
        "every Fn::Split object requires two parameters, (1) a string delimiter and (2) a string "
        "to be split or a function that returns a string to be split.");
  }
  const std::string& delimiter = argument.items()[0].scalar();
  const std::string source = TRY(text(argument.items()[1]));
  Node out = Node::list();
  for (std::size_t at = 0; at <= source.size();) {
    const std::size_t end = std::min(source.find(delimiter, at), source.size());
    out.items().push_back(Node::text(source.substr(at, end - at)));
    at = end + delimiter.size();
  }
  return out;
}

Result<Node> Functions::find_in_map(const Node& argument) {
  if (argument.items().size() < 3) {
    return template_error(
        "every Fn::FindInMap object requires three parameters, the map name, map key and the "
        "attribute for return value");
  }
  const std::string name = TRY(text(argument.items()[0]));
  const std::string first = TRY(text(argument.items()[1]));
  const std::string second = TRY(text(argument.items()[2]));
  if (const Node* const found = root_["Mappings"][name][first].find(second)) return *found;
  if (argument.items().size() > 3 && argument.items()[3].has("DefaultValue")) {
    return value(argument.items()[3]["DefaultValue"]);
  }
  return template_error(fmt::format("Unable to get mapping for {}::{}::{}", name, first, second));
}

Result<Node> Functions::base64(const Node& argument) {
  return Node::text(base64_encode(TRY(text(argument))));
}

Result<Node> Functions::cidr(const Node& argument) {
  if (argument.items().size() < 2) {
    return template_error("Fn::Cidr requires an IP block, a count and the bits of a subnet");
  }
  const std::string block = TRY(text(argument.items()[0]));
  const auto count = TRY(value(argument.items()[1])).integer();
  const auto bits = argument.items().size() > 2 ? TRY(value(argument.items()[2])).integer()
                                                : std::optional<std::int64_t>(8);
  const auto blocks =
      count && bits ? cidr_blocks(block, *count, *bits) : std::optional<std::vector<std::string>>();
  if (!blocks) {
    return template_error(fmt::format("Fn::Cidr cannot split {} into these blocks", block));
  }
  Node out = Node::list();
  for (const std::string& one : *blocks) out.items().push_back(Node::text(one));
  return out;
}

Result<Node> Functions::length(const Node& argument) {
  const Node items = TRY(value(argument));
  if (!items.is_list()) return template_error("Fn::Length requires a list argument");
  return Node::number(static_cast<std::int64_t>(items.items().size()));
}

Result<Node> Functions::to_json(const Node& argument) {
  return Node::text(TRY(value(argument)).json());
}

Result<Node> Functions::import_value(const Node& argument) {
  const std::string name = TRY(text(argument));
  if (!references_.import_value) {
    return fail(ErrorCode::usage, fmt::format("No export named {} found.", name));
  }
  return references_.import_value(name);
}

Result<Node> Functions::zones(const Node& argument) {
  std::string region = TRY(text(argument));
  if (region.empty()) region = references_.region;
  return Node::list({Node::text(region + "a"), Node::text(region + "b"), Node::text(region + "c")});
}

Functions::Resolved Functions::choose(const Node& argument) {
  if (argument.items().size() != 3) {
    return template_error("Fn::If requires a list argument with three elements");
  }
  const bool yes = TRY(holds(argument.items()[0].scalar()));
  return resolve(argument.items()[yes ? 1 : 2]);
}

Result<bool> Functions::holds(const std::string& condition) {
  if (const auto found = conditions_.find(condition); found != conditions_.end()) {
    return found->second;
  }
  const Node* const declared = root_["Conditions"].find(condition);
  if (declared == nullptr) {
    return format_error(fmt::format("Unresolved condition {}", condition));
  }
  if (!open_.insert(condition).second) {
    return format_error(fmt::format("Circular dependency of the condition {}", condition));
  }
  const bool result = TRY(test(*declared));
  open_.erase(condition);
  conditions_[condition] = result;
  return result;
}

Result<bool> Functions::test(const Node& condition) {
  const FunctionLevel level(depth_);
  if (depth_ > kFunctionDepthMax) return template_error("functions are nested too deeply");
  if (condition.members().size() != 1) {
    return format_error("Every Condition member must be a string or one condition function.");
  }
  return test_function(condition.members()[0].first, condition.members()[0].second);
}

Result<bool> Functions::test_function(const std::string& name, const Node& argument) {
  if (name == "Condition") return holds(argument.scalar());
  const std::size_t size = argument.items().size();
  if (name == "Fn::Equals") {
    if (size != 2) return template_error("Fn::Equals requires a list argument with two elements");
    return TRY(value(argument.items()[0])).means(TRY(value(argument.items()[1])));
  }
  if (name == "Fn::Not") {
    if (size != 1) return template_error("Fn::Not requires a list argument with one element");
    return !TRY(test(argument.items()[0]));
  }
  if (name != "Fn::And" && name != "Fn::Or") {
    return format_error(fmt::format("{} cannot be used in a condition", name));
  }
  if (size < 2 || size > 10) {
    return template_error(
        fmt::format("every {} object requires a list of at least 2 and at most 10 boolean "
                    "parameters.",
                    name));
  }
  const bool any = name == "Fn::Or";
  for (const Node& part : argument.items()) {
    if (TRY(test(part)) == any) return any;
  }
  return !any;
}

}  // namespace redrive::stack
