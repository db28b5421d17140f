#include "dead_letters/triage/json_path.h"

#include <fmt/format.h>

#include <span>

#include "base/text.h"
#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/json_document.h"
#include "dead_letters/triage/quoted.h"

namespace redrive::triage {
namespace {

namespace dom = simdjson::dom;
using Step = JsonPath::Step;

std::unexpected<Error> bad_path(std::size_t at, std::string_view why) {
  return fail(ErrorCode::invalid_parameter_value, fmt::format("At position {}: {}", at + 1, why));
}

bool in_plain_key(char c) {
  return is_word(c) || c == '-' || static_cast<signed char>(c) < 0;
}

Result<Step> plain_key(std::string_view text, std::size_t& at) {
  const std::size_t size = run(text, at, in_plain_key);
  if (size == 0)
    return bad_path(at, "a key must follow the dot; write ['…'] for other characters.");
  at += size;
  return Step{.key = std::string(text.substr(at - size, size))};
}

// Inside brackets: a quoted key, a number, or *.
Result<Step> bracketed(std::string_view text, std::size_t& at) {
  if (at >= text.size()) return bad_path(at, "the bracket is not closed.");
  if (text[at] == '"' || text[at] == '\'') return Step{.key = TRY(read_quoted(text, at))};
  if (text[at] == '*') {
    ++at;
    return Step{.kind = Step::Kind::each};
  }
  const std::size_t digits = run(text, at, is_digit);
  const auto index = parse_int<std::uint32_t>(text.substr(at, digits));
  if (!index) return bad_path(at, "brackets must contain a number, * or a key in quotes.");
  at += digits;
  return Step{.kind = Step::Kind::index, .index = *index};
}

JsonValue value_of(dom::element element) {
  using Type = JsonValue::Type;
  switch (element.type()) {
    case dom::element_type::OBJECT:
      return {.type = Type::object};
    case dom::element_type::ARRAY:
      return {.type = Type::array};
    case dom::element_type::STRING:
      return {.type = Type::string, .text = element.get_string().value_unsafe()};
    case dom::element_type::BOOL:
      return {.type = Type::boolean, .boolean = element.get_bool().value_unsafe()};
    case dom::element_type::NULL_VALUE:
      return {.type = Type::null};
    case dom::element_type::INT64: {
      const std::int64_t integer = element.get_int64().value_unsafe();
      return {.type = Type::integer, .integer = integer, .real = static_cast<double>(integer)};
    }
    case dom::element_type::UINT64:  // Too large for int64.
      return {.type = Type::real, .real = static_cast<double>(element.get_uint64().value_unsafe())};
    case dom::element_type::DOUBLE:
      break;
  }
  return {.type = Type::real, .real = element.get_double().value_unsafe()};
}

// Recursion is bounded by the steps.
void walk(dom::element element, std::span<const Step> steps, std::vector<JsonValue>& found) {
  if (steps.empty()) return found.push_back(value_of(element));
  const Step& step = steps.front();
  dom::object object;
  if (step.kind == Step::Kind::key) {
    dom::element member;
    if (element.get(object) != simdjson::SUCCESS) return;
    if (object.at_key(step.key).get(member) == simdjson::SUCCESS) {
      walk(member, steps.subspan(1), found);
    }
    return;
  }
  dom::array array;
  if (element.get(array) == simdjson::SUCCESS) {
    std::size_t index = 0;
    for (const dom::element item : array) {
      const bool wanted = step.kind == Step::Kind::each || index == step.index;
      if (wanted) walk(item, steps.subspan(1), found);
      if (step.kind == Step::Kind::index && ++index > step.index) return;
    }
  } else if (step.kind == Step::Kind::each && element.get(object) == simdjson::SUCCESS) {
    for (const auto member : object) walk(member.value, steps.subspan(1), found);
  }
}

}  // namespace

Result<JsonPath> JsonPath::parse_prefix(std::string_view text, std::size_t& at) {
  if (at >= text.size() || text[at] != '$') return bad_path(at, "a path must begin with $.");
  ++at;
  JsonPath path;
  while (at < text.size() && (text[at] == '.' || text[at] == '[')) {
    if (path.steps_.size() == kStepsMax) {
      return bad_path(at, fmt::format("a path can have at most {} steps.", kStepsMax));
    }
    const bool bracket = text[at++] == '[';
    path.steps_.push_back(bracket ? TRY(bracketed(text, at)) : TRY(plain_key(text, at)));
    if (!bracket) continue;
    if (at >= text.size() || text[at] != ']') return bad_path(at, "the bracket is not closed.");
    ++at;
  }
  return path;
}

Result<JsonPath> JsonPath::parse(std::string_view text) {
  std::size_t at = 0;
  JsonPath path = TRY(parse_prefix(text, at));
  if (at != text.size()) return bad_path(at, "the path should end here.");
  return path;
}

std::vector<JsonValue> JsonPath::find(const JsonDocument& document) const {
  std::vector<JsonValue> found;
  if (document.is_json()) walk(document.root(), steps_, found);
  return found;
}

}  // namespace redrive::triage
