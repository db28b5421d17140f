#include "dead_letters/triage/filter.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <compare>

#include "base/pattern.h"
#include "base/text.h"
#include "dead_letters/triage/json_document.h"

namespace redrive::triage {
namespace {

using Condition = Filter::Condition;
using Operator = Filter::Operator;

bool holds(Operator op, std::partial_ordering order) {
  switch (op) {
    case Operator::equal:
      return order == 0;
    case Operator::less:
      return order < 0;
    case Operator::less_equal:
      return order <= 0;
    case Operator::greater:
      return order > 0;
    case Operator::greater_equal:
      return order >= 0;
    default:
      return false;
  }
}

struct Number {
  bool exact = false;
  std::int64_t integer = 0;
  double real = 0;
};

std::partial_ordering compare(const Number& a, const Number& b) {
  if (a.exact && b.exact) return a.integer <=> b.integer;
  return a.real <=> b.real;
}

std::optional<Number> number_of(const Filter::Literal& literal) {
  if (const auto* integer = std::get_if<std::int64_t>(&literal)) {
    return Number{true, *integer, static_cast<double>(*integer)};
  }
  if (const auto* real = std::get_if<double>(&literal)) return Number{false, 0, *real};
  return std::nullopt;
}

// The value of an attribute, which is text whatever its type.
std::optional<Number> number_of(std::string_view text) {
  if (const auto integer = parse_int<std::int64_t>(text)) {
    return Number{true, *integer, static_cast<double>(*integer)};
  }
  double real = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return Number{false, 0, real};
}

bool text_fits(std::string_view text, Operator op, std::string_view literal) {
  switch (op) {
    case Operator::contains:
      return find_text(text, literal) != std::string_view::npos;
    case Operator::starts_with:
      return text.starts_with(literal);
    case Operator::like:
      return wildcard_match(literal, text);
    default:
      return holds(op, text <=> literal);
  }
}

// Compares texts with texts, and with a number if they are numeric.
bool text_fits(std::string_view text, const Condition& condition) {
  if (const auto* literal = std::get_if<std::string>(&condition.literal)) {
    return text_fits(text, condition.op, *literal);
  }
  const auto literal = number_of(condition.literal);
  const auto value = number_of(text);
  return literal && value && holds(condition.op, compare(*value, *literal));
}

std::string_view type_name(JsonValue::Type type) {
  switch (type) {
    case JsonValue::Type::object:
      return "object";
    case JsonValue::Type::array:
      return "array";
    case JsonValue::Type::string:
      return "string";
    case JsonValue::Type::boolean:
      return "boolean";
    case JsonValue::Type::null:
      return "null";
    default:
      return "number";
  }
}

bool json_fits(const JsonValue& value, const Condition& condition) {
  using Type = JsonValue::Type;
  const Filter::Literal& literal = condition.literal;
  if (condition.op == Operator::is) return type_name(value.type) == std::get<std::string>(literal);
  switch (value.type) {
    case Type::string: {
      const auto* text = std::get_if<std::string>(&literal);
      return text != nullptr && text_fits(value.text, condition.op, *text);
    }
    case Type::integer:
    case Type::real: {
      const auto number = number_of(literal);
      const Number mine{value.type == Type::integer, value.integer, value.real};
      return number && holds(condition.op, compare(mine, *number));
    }
    case Type::boolean: {
      const bool* flag = std::get_if<bool>(&literal);
      return flag != nullptr && condition.op == Operator::equal && *flag == value.boolean;
    }
    case Type::null:
      return condition.op == Operator::equal && std::holds_alternative<Filter::Null>(literal);
    default:
      return false;
  }
}

bool count_fits(std::uint64_t count, const Condition& condition) {
  const auto literal = number_of(condition.literal);
  const auto capped = static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
  const Number mine{true, capped, static_cast<double>(capped)};
  return literal && holds(condition.op, compare(mine, *literal));
}

}  // namespace

// Evaluates a filter for one message.
class FilterMatch {
 public:
  FilterMatch(const Filter& filter, const Subject& subject) : filter_(filter), subject_(subject) {}

  // Recursion is bounded by the number of nodes.
  bool node(std::size_t index) {
    const Filter::Node& node = filter_.nodes_[index];
    switch (node.kind) {
      case Filter::Node::Kind::negation:
        return !this->node(node.left);
      case Filter::Node::Kind::conjunction:
        return this->node(node.left) && this->node(node.right);
      case Filter::Node::Kind::disjunction:
        return this->node(node.left) || this->node(node.right);
      case Filter::Node::Kind::condition:
        break;
    }
    const Condition& condition = filter_.conditions_[node.left];
    return fits(condition) != condition.negated;
  }

 private:
  bool fits(const Condition& condition) {
    using Operand = Filter::Operand;
    switch (condition.operand) {
      case Operand::body_path:
        return path(condition);
      case Operand::attribute:
        return attribute(condition);
      case Operand::sent:
        return condition.op == Operator::present || sent(condition);
      case Operand::received:
        return condition.op == Operator::present || count_fits(subject_.receive_count, condition);
      case Operand::redriven:
        return condition.op == Operator::present || count_fits(subject_.redrive_count, condition);
      case Operand::size:
        return condition.op == Operator::present || count_fits(subject_.body.size(), condition);
      default:
        return text(condition);
    }
  }

  // An empty text counts as absent, except that every message has a body.
  bool text(const Condition& condition) const {
    const std::string_view text = text_of(condition.operand);
    const bool absent = text.empty() && condition.operand != Filter::Operand::body;
    if (absent || condition.op == Operator::present) return !text.empty();
    return text_fits(text, condition);
  }

  std::string_view text_of(Filter::Operand operand) const {
    using Operand = Filter::Operand;
    switch (operand) {
      case Operand::message_id:
        return subject_.message_id;
      case Operand::lineage:
        return subject_.lineage_id;
      case Operand::group:
        return subject_.group_id;
      case Operand::message_group:
        return subject_.message_group;
      case Operand::error_type:
        return subject_.error_type;
      case Operand::error_message:
        return subject_.error_message;
      case Operand::source:
        return subject_.source_queue;
      default:
        return subject_.body;
    }
  }

  bool sent(const Condition& condition) const {
    const auto* time = std::get_if<Timestamp>(&condition.literal);
    return time != nullptr && holds(condition.op, subject_.sent <=> *time);
  }

  bool attribute(const Condition& condition) const {
    const auto found =
        std::ranges::find(subject_.attributes, condition.attribute, &AttributeView::name);
    if (found == subject_.attributes.end()) return false;
    if (condition.op == Operator::present) return true;
    if (condition.op == Operator::is) {
      return found->data_type == std::get<std::string>(condition.literal);
    }
    return text_fits(found->value, condition);
  }

  bool path(const Condition& condition) {
    if (!document_) document_.emplace(subject_.body);
    const std::vector<JsonValue> values = condition.path.find(*document_);
    if (condition.op == Operator::present) return !values.empty();
    return std::ranges::any_of(values, [&](const JsonValue& v) { return json_fits(v, condition); });
  }

  const Filter& filter_;
  const Subject& subject_;
  std::optional<JsonDocument> document_;  // Parsed on first use.
};

bool Filter::matches(const Subject& subject) const {
  assert(!nodes_.empty());  // parse() never returns an empty filter.
  return FilterMatch(*this, subject).node(nodes_.size() - 1);
}

}  // namespace redrive::triage
