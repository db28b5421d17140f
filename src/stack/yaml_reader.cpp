// Builds nodes from libyaml's events.

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <array>
#include <map>

#include "stack/node.h"

namespace redrive::stack {
namespace {

constexpr std::size_t kYamlDepthMax = 64;
constexpr std::size_t kYamlValuesMax = 200'000;

class YamlEvent {
 public:
  YamlEvent() = default;
  ~YamlEvent() { yaml_event_delete(&event_); }
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;

  yaml_event_t* operator->() { return &event_; }
  yaml_event_t* get() { return &event_; }

 private:
  yaml_event_t event_{};
};

std::string_view view_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  const std::size_t end = text.find_first_not_of("0123456789", at);
  return (end == text.npos ? text.size() : end) - at;
}

// A number in JSON's syntax. 007 is a name or an account id, and so is anything with more digits
// than a number in a template.
bool is_number(std::string_view text) {
  constexpr std::size_t kNumberMax = 18;
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_at(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0') || text.size() > kNumberMax) return false;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_at(text, at + 1);
    if (fraction == 0) return false;
    at += 1 + fraction;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    at += at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1;
    const std::size_t exponent = digits_at(text, at);
    if (exponent == 0 || exponent > 2) return false;
    at += exponent;
  }
  return at == text.size();
}

// The value of an unquoted scalar. Dates are texts, as in CloudFormation.
Node plain_scalar(std::string text) {
  constexpr std::array<std::string_view, 5> kNulls = {"", "~", "null", "Null", "NULL"};
  constexpr std::array<std::string_view, 3> kTrue = {"true", "True", "TRUE"};
  constexpr std::array<std::string_view, 3> kFalse = {"false", "False", "FALSE"};
  if (std::ranges::find(kNulls, text) != kNulls.end()) return {};
  if (std::ranges::find(kTrue, text) != kTrue.end()) return Node::flag(true);
  if (std::ranges::find(kFalse, text) != kFalse.end()) return Node::flag(false);
  if (is_number(text)) return Node::number(std::move(text));
  return Node::text(std::move(text));
}

// !Ref x is {"Ref": x}, !GetAtt a.b is {"Fn::GetAtt": ["a", "b"]}, !Sub x is {"Fn::Sub": x}.
Node with_tag(std::string_view tag, Node value) {
  if (!tag.starts_with('!')) return value;
  tag.remove_prefix(1);
  if (tag.empty()) return value;
  const bool bare = tag == "Ref" || tag == "Condition";
  if (tag == "GetAtt" && value.is_text()) {
    const std::size_t dot = std::min(value.scalar().find('.'), value.scalar().size());
    const std::size_t rest = std::min(dot + 1, value.scalar().size());
    value = Node::list(
        {Node::text(value.scalar().substr(0, dot)), Node::text(value.scalar().substr(rest))});
  }
  return Node::map({{bare ? std::string(tag) : "Fn::" + std::string(tag), std::move(value)}});
}

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(
        &parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlReader() { yaml_parser_delete(&parser_); }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  Result<Node> document() {
    Node root;
    while (true) {
      YamlEvent event;
      RETURN_IF_ERROR(next(event));
      if (event->type == YAML_STREAM_END_EVENT) return root;
      if (event->type == YAML_DOCUMENT_START_EVENT && seen_document_) {
        return broken(event, "expected one document, found another");
      }
      if (event->type == YAML_STREAM_START_EVENT || event->type == YAML_DOCUMENT_START_EVENT ||
          event->type == YAML_DOCUMENT_END_EVENT) {
        continue;
      }
      root = TRY(value(event, 0));
      seen_document_ = true;
    }
  }

 private:
  std::unexpected<Error> broken(YamlEvent& event, std::string_view what) {
    return fail(ErrorCode::usage, fmt::format("line {}: {}", event->start_mark.line + 1, what));
  }

  Result<void> next(YamlEvent& event) {
    if (yaml_parser_parse(&parser_, event.get()) == 1) return {};
    return fail(ErrorCode::usage,
                fmt::format("line {}: {}",
                            parser_.problem_mark.line + 1,
                            parser_.problem == nullptr ? "not valid YAML" : parser_.problem));
  }

  Result<Node> value(YamlEvent& event, std::size_t depth) {
    if (++values_ > kYamlValuesMax) return broken(event, "the document has too many values");
    if (depth > kYamlDepthMax) return broken(event, "the document is nested too deeply");
    switch (event->type) {
      case YAML_ALIAS_EVENT:
        return alias(event);
      case YAML_SCALAR_EVENT:
        return scalar(event);
      case YAML_SEQUENCE_START_EVENT:
        return remember(view_of(event->data.sequence_start.anchor),
                        with_tag(view_of(event->data.sequence_start.tag), TRY(list(depth))));
      case YAML_MAPPING_START_EVENT:
        return remember(view_of(event->data.mapping_start.anchor),
                        with_tag(view_of(event->data.mapping_start.tag), TRY(map(depth))));
      default:
        return broken(event, "expected a value");
    }
  }

  Result<Node> scalar(YamlEvent& event) {
    const auto& data = event->data.scalar;
    std::string text(reinterpret_cast<const char*>(data.value), data.length);
    const std::string_view tag = view_of(data.tag);
    const bool plain = data.style == YAML_PLAIN_SCALAR_STYLE && tag.empty();
    // The argument of a short form is text: !Ref 1 names the resource 1.
    Node node = plain ? plain_scalar(std::move(text)) : Node::text(std::move(text));
    return remember(view_of(data.anchor), with_tag(tag, std::move(node)));
  }

  Result<Node> alias(YamlEvent& event) {
    const auto found = anchors_.find(view_of(event->data.alias.anchor));
    if (found == anchors_.end()) return broken(event, "unknown alias");
    values_ += count(found->second);  // A few lines of aliases can expand to millions of values.
    if (values_ > kYamlValuesMax) return broken(event, "the document has too many values");
    return found->second;
  }

  Result<Node> list(std::size_t depth) {
    Node list = Node::list();
    while (true) {
      YamlEvent event;
      RETURN_IF_ERROR(next(event));
      if (event->type == YAML_SEQUENCE_END_EVENT) return list;
      list.items().push_back(TRY(value(event, depth + 1)));
    }
  }

  Result<Node> map(std::size_t depth) {
    Node map = Node::map();
    while (true) {
      YamlEvent event;
      RETURN_IF_ERROR(next(event));
      if (event->type == YAML_MAPPING_END_EVENT) return map;
      if (event->type != YAML_SCALAR_EVENT) return broken(event, "expected a name");
      const std::string name(reinterpret_cast<const char*>(event->data.scalar.value),
                             event->data.scalar.length);
      if (map.has(name) && name != "<<") {
        return broken(event, fmt::format("duplicate name {}", name));
      }
      YamlEvent following;
      RETURN_IF_ERROR(next(following));
      Node item = TRY(value(following, depth + 1));
      if (name == "<<" && item.is_map()) {
        merge(map, item);
      } else {
        map.set(name, std::move(item));
      }
    }
  }

  static void merge(Node& map, const Node& other) {
    for (const auto& [name, value] : other.members()) {
      if (!map.has(name)) map.set(name, value);
    }
  }

  Node remember(std::string_view anchor, Node node) {
    if (!anchor.empty()) anchors_.insert_or_assign(std::string(anchor), node);
    return node;
  }

  static std::size_t count(const Node& node) {
    std::size_t sum = 1;
    for (const Node& item : node.items()) sum += count(item);
    for (const auto& [name, item] : node.members()) sum += count(item);
    return sum;
  }

  yaml_parser_t parser_;
  std::map<std::string, Node, std::less<>> anchors_;
  std::size_t values_ = 0;
  bool seen_document_ = false;
};

}  // namespace

Result<Node> read_yaml(std::string_view text) {
  return YamlReader(text).document();
}

}  // namespace redrive::stack
