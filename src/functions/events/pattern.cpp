#include "functions/events/pattern.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/pattern.h"

namespace redrive::events {
namespace {

using Element = simdjson::dom::element;
using Object = simdjson::dom::object;
using Array = simdjson::dom::array;

// nullopt for invalid input; parse_pattern creates the error.
template <class T>
using Maybe = std::optional<T>;

#define NEED(expression)                               \
  __extension__({                                      \
    auto&& need_result = (expression);                 \
    if (!need_result) return std::nullopt;             \
    *std::forward<decltype(need_result)>(need_result); \
  })

template <class T>
Maybe<T> as(Element element) {
  T value;
  if (element.get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

Literal owned(const Scalar& value) {
  return std::visit(
      [](const auto& held) -> Literal {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string_view>)
          return std::string(held);
        else
          return held;
      },
      value);
}

// The only member of an object; nullopt if it has none or several.
Maybe<simdjson::dom::key_value_pair> only_member_of(Element element) {
  const Object object = NEED(as<Object>(element));
  if (object.size() != 1) return std::nullopt;
  return *object.begin();
}

// The texts between stars; `\*` and `\\` are literal. Two consecutive stars are refused.
Maybe<std::vector<std::string>> wildcard_pieces(std::string_view text) {
  std::vector<std::string> pieces(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*') {
      if (i > 0 && pieces.size() > 1 && pieces.back().empty()) return std::nullopt;
      pieces.emplace_back();
    } else if (text[i] == '\\') {
      if (++i == text.size() || (text[i] != '*' && text[i] != '\\')) return std::nullopt;
      pieces.back() += text[i];
    } else {
      pieces.back() += text[i];
    }
  }
  return pieces;
}

struct TextOperator {
  std::string_view name;
  TextRule rule;
  bool ignore_case;
};
constexpr TextOperator kTextOperators[] = {{"prefix", TextRule::prefix, false},
                                           {"suffix", TextRule::suffix, false},
                                           {"wildcard", TextRule::wildcard, false},
                                           {"equals-ignore-case", TextRule::whole, true}};

const TextOperator* find_text_operator(std::string_view name) {
  const auto found = std::ranges::find(kTextOperators, name, &TextOperator::name);
  return found == std::end(kTextOperators) ? nullptr : &*found;
}

Maybe<TextMatcher> text_matcher(const TextOperator& kind, Element operand) {
  TextMatcher matcher{.rule = kind.rule, .ignore_case = kind.ignore_case, .text = {}, .pieces = {}};
  Maybe<std::string_view> text = as<std::string_view>(operand);
  if (!text && (kind.rule == TextRule::prefix || kind.rule == TextRule::suffix)) {
    const auto inner = NEED(only_member_of(operand));
    if (inner.key != "equals-ignore-case") return std::nullopt;
    text = as<std::string_view>(inner.value);
    matcher.ignore_case = true;
  }
  matcher.text = matcher.ignore_case ? to_lower(NEED(text)) : std::string(NEED(text));
  if (kind.rule == TextRule::wildcard) matcher.pieces = NEED(wildcard_pieces(matcher.text));
  return matcher;
}

Maybe<NumericMatcher> numeric_matcher(Element operand) {
  const Array list = NEED(as<Array>(operand));
  if (list.size() != 2 && list.size() != 4) return std::nullopt;
  NumericMatcher matcher;
  for (std::size_t i = 0; i < list.size(); i += 2) {
    const auto sign = NEED(as<std::string_view>(list.at(i).value_unsafe()));
    const double value = NEED(as<double>(list.at(i + 1).value_unsafe()));
    const NumericMatcher::Bound bound{.value = value, .inclusive = sign.ends_with('=')};
    if (sign == "=" && list.size() == 2) return NumericMatcher{.lower = bound, .upper = bound};
    if ((sign == ">" || sign == ">=") && i == 0) {
      matcher.lower = bound;
    } else if ((sign == "<" || sign == "<=") && i + 2 == list.size()) {
      matcher.upper = bound;
    } else {
      return std::nullopt;
    }
  }
  if (list.size() == 4 && !(matcher.lower && matcher.upper->value > matcher.lower->value))
    return std::nullopt;
  return matcher;
}

bool is_number(const Literal& literal) {
  return std::holds_alternative<std::int64_t>(literal) ||
         std::holds_alternative<std::uint64_t>(literal) || std::holds_alternative<double>(literal);
}

// All strings or all numbers.
bool is_uniform(const std::vector<Literal>& literals) {
  const auto is_text = [](const Literal& one) { return std::holds_alternative<std::string>(one); };
  return std::ranges::all_of(literals, is_text) || std::ranges::all_of(literals, is_number);
}

Maybe<AnythingBut> anything_but_texts(Element operand) {
  const auto member = NEED(only_member_of(operand));
  const TextOperator* kind = find_text_operator(member.key);
  if (kind == nullptr) return std::nullopt;
  AnythingBut matcher;
  const auto add = [&](Element one) {
    auto text = text_matcher(*kind, one);
    if (!text || text->text.empty()) return false;
    matcher.texts.push_back(*std::move(text));
    return true;
  };
  Array list;
  if (member.value.get(list) != simdjson::SUCCESS)
    return add(member.value) ? Maybe(matcher) : std::nullopt;
  for (const Element one : list)
    if (!add(one)) return std::nullopt;
  return list.size() > 0 ? Maybe(matcher) : std::nullopt;
}

Maybe<AnythingBut> anything_but(Element operand) {
  if (operand.is_object()) return anything_but_texts(operand);
  AnythingBut matcher;
  if (const auto list = as<Array>(operand)) {
    for (const Element one : *list) matcher.literals.push_back(owned(NEED(scalar_of(one))));
  } else {
    matcher.literals.push_back(owned(NEED(scalar_of(operand))));
  }
  if (matcher.literals.empty() || !is_uniform(matcher.literals)) return std::nullopt;
  return matcher;
}

Maybe<Alternative> operator_alternative(std::string_view name, Element operand) {
  if (const TextOperator* kind = find_text_operator(name))
    return NEED(text_matcher(*kind, operand));
  if (name == "numeric") return NEED(numeric_matcher(operand));
  if (name == "anything-but") return NEED(anything_but(operand));
  if (name == "exists") return Exists{NEED(as<bool>(operand))};
  if (name == "cidr") return NEED(CidrMatcher::parse(as<std::string_view>(operand).value_or("")));
  return std::nullopt;
}

bool is_operator(std::string_view name) {
  return find_text_operator(name) != nullptr || name == "numeric" || name == "anything-but" ||
         name == "exists" || name == "cidr";
}

Maybe<Leaf> parse_leaf(Array list) {
  Leaf leaf;
  for (const Element one : list) {
    if (const auto value = scalar_of(one)) {
      leaf.emplace_back(owned(*value));
      continue;
    }
    const auto member = NEED(only_member_of(one));
    leaf.push_back(NEED(operator_alternative(member.key, member.value)));
  }
  return leaf.empty() ? std::nullopt : Maybe(std::move(leaf));
}

// One condition: alternatives for the field at the end of a path.
struct Demand {
  std::vector<std::string> path;
  std::shared_ptr<const Leaf> leaf;
};
using Way = std::vector<Demand>;

// `$or` is an operator only with at least two objects that contain fields; otherwise it is an
// ordinary name.
bool is_or(std::string_view key, Element value) {
  Array list;
  if (key != "$or" || value.get(list) != simdjson::SUCCESS || list.size() < 2) return false;
  return std::ranges::all_of(list, [](Element one) {
    Object object;
    if (one.get(object) != simdjson::SUCCESS || object.size() == 0) return false;
    return std::none_of(
        object.begin(), object.end(), [](const auto& member) { return is_operator(member.key); });
  });
}

// Expands a pattern into all its combinations.
class PatternReader {
 public:
  Maybe<std::vector<Way>> read(Object object) {
    std::vector<Way> ways(1);
    if (!read_members(object, ways)) return std::nullopt;
    return ways;
  }

 private:
  bool read_members(Object object, std::vector<Way>& ways) {
    if (object.size() == 0) return false;
    for (const auto& [key, value] : object) {
      if (is_repeated(object, key)) continue;
      if (!read_member(key, value, ways)) return false;
    }
    return true;
  }

  // If a name occurs twice, the last one counts.
  static bool is_repeated(Object object, std::string_view key) {
    bool passed = false;
    for (const auto& member : object) {
      if (passed && member.key == key) return true;
      passed = passed || member.key.data() == key.data();
    }
    return false;
  }

  bool read_member(std::string_view key, Element value, std::vector<Way>& ways) {
    if (is_or(key, value)) return read_or(Array(value), ways);
    const std::size_t depth = path_.size();
    push(key);
    const bool good = path_.size() <= kPatternDepthMax && read_value(value, ways);
    path_.resize(depth);
    return good;
  }

  // Dots in names are equivalent to nesting.
  void push(std::string_view key) {
    for (std::size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
      path_.emplace_back(key.substr(0, dot));
      key.remove_prefix(dot + 1);
    }
    path_.emplace_back(key);
  }

  bool read_value(Element value, std::vector<Way>& ways) {
    Object object;
    if (value.get(object) == simdjson::SUCCESS) return read_members(object, ways);
    Array list;
    if (value.get(list) != simdjson::SUCCESS) return false;
    auto leaf = parse_leaf(list);
    if (!leaf) return false;
    const auto shared = std::make_shared<const Leaf>(*std::move(leaf));
    for (Way& way : ways) way.push_back({path_, shared});
    return is_bounded(ways);
  }

  bool read_or(Array branches, std::vector<Way>& ways) {
    std::vector<Way> all;
    for (const Element branch : branches) {
      std::vector<Way> taken = ways;
      if (!read_members(Object(branch), taken)) return false;
      std::ranges::move(taken, std::back_inserter(all));
      if (!is_bounded(all)) return false;
    }
    ways = std::move(all);
    return true;
  }

  static bool is_bounded(const std::vector<Way>& ways) {
    std::size_t leaves = 0;
    for (const Way& way : ways) leaves += way.size();
    return ways.size() <= kPatternWaysMax && leaves <= kPatternLeavesMax;
  }

  std::vector<std::string> path_;
};

PatternNode assemble(const Way& way) {
  PatternNode root;
  for (const Demand& demand : way) {
    PatternNode* node = &root;
    for (const std::string& name : demand.path) node = &node->members[name];
    node->leaves.push_back(demand.leaf);
  }
  return root;
}

Maybe<std::vector<PatternNode>> read_ways(std::string_view json) {
  if (json.size() > kPatternBytesMax) return std::nullopt;
  simdjson::dom::parser parser;
  Element document;
  if (parser.parse(json.data(), json.size()).get(document) != simdjson::SUCCESS)
    return std::nullopt;
  const Object object = NEED(as<Object>(document));
  const std::vector<Way> ways = NEED(PatternReader().read(object));
  std::vector<PatternNode> nodes;
  std::ranges::transform(ways, std::back_inserter(nodes), assemble);
  return nodes;
}

#undef NEED

}  // namespace

Result<Pattern> parse_pattern(std::string_view json) {
  auto ways = read_ways(json);
  if (!ways) return fail(ErrorCode::invalid_parameter_value, "Invalid filter pattern definition.");
  Pattern pattern;
  pattern.ways_ = *std::move(ways);
  return pattern;
}

bool any_matches(const std::vector<Pattern>& patterns, const Record& record) {
  return patterns.empty() || std::ranges::any_of(patterns, [&](const Pattern& pattern) {
           return pattern.matches(record);
         });
}

}  // namespace redrive::events
