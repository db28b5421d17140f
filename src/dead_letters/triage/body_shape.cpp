#include "dead_letters/triage/body_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "dead_letters/triage/characters.h"
#include "dead_letters/triage/json_document.h"
#include "dead_letters/triage/normalise.h"

namespace redrive::triage {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kKeysMax = 64;  // Per object: an object with more is a map keyed by ids.
constexpr std::size_t kKeysShown = 8;
constexpr std::size_t kItemsRead = 16;
constexpr int kDepthMax = 2;

bool is_xml(std::string_view text) {
  if (text.size() < 3 || text[0] != '<') return false;
  return is_letter(text[1]) || text[1] == '?' || text[1] == '!';
}

// Long enough, and distinguishable from a word: it has padding, or all three kinds of characters.
bool is_base64(std::string_view text) {
  constexpr std::size_t kLongEnough = 24;
  if (text.size() < kLongEnough || text.size() % 4 != 0) return false;
  const std::size_t body =
      run(text, 0, [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '/'; });
  const std::string_view padding = text.substr(body);
  if (!padding.empty() && padding != "=" && padding != "==") return false;
  return !padding.empty() ||
         (std::ranges::any_of(text, is_digit) && std::ranges::any_of(text, is_upper) &&
          std::ranges::any_of(text, is_lower));
}

std::string shape_of_value(dom::element value, int depth);

std::string shape_of_object(dom::object object, int depth) {
  std::set<std::string> members;
  for (const auto [key, value] : object) {
    if (members.size() >= kKeysMax) break;
    members.insert(normalise_name(key) + ":" + shape_of_value(value, depth + 1));
  }
  return fmt::format("{{{}}}", fmt::join(members, ","));
}

std::string shape_of_array(dom::array array, int depth) {
  std::set<std::string> items;
  std::size_t read = 0;
  for (const dom::element item : array) {
    if (++read > kItemsRead) break;
    items.insert(shape_of_value(item, depth));
  }
  return fmt::format("[{}]", fmt::join(items, "|"));
}

std::string shape_of_value(dom::element value, int depth) {
  switch (value.type()) {
    case dom::element_type::OBJECT:
      return depth < kDepthMax ? shape_of_object(value.get_object().value_unsafe(), depth)
                               : "object";
    case dom::element_type::ARRAY:
      return depth < kDepthMax ? shape_of_array(value.get_array().value_unsafe(), depth + 1)
                               : "array";
    case dom::element_type::STRING:
      return "string";
    case dom::element_type::BOOL:
      return "boolean";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "number";
  }
}

std::string summary_of_object(dom::object object) {
  constexpr std::size_t kKeyBytesShown = 40;
  std::vector<std::string> keys;
  for (const auto [key, value] : object) {
    if (keys.size() >= kKeysMax) break;
    keys.push_back(cut(key, kKeyBytesShown));
  }
  std::ranges::sort(keys);
  const bool more = keys.size() > kKeysShown;
  if (more) keys.resize(kKeysShown);
  return fmt::format("JSON object {{{}{}}}", fmt::join(keys, ", "), more ? ", …" : "");
}

BodyShape shape_of_json(dom::element root) {
  const std::string text = shape_of_value(root, 0);
  switch (root.type()) {
    case dom::element_type::OBJECT:
      return {text, summary_of_object(root.get_object().value_unsafe())};
    case dom::element_type::ARRAY:
      return {text, "JSON array"};
    default:
      return {text, "JSON " + text};
  }
}

}  // namespace

std::string_view describe(BodyKind kind) {
  constexpr std::array<std::string_view, kBodyKinds> kWords = {
      "empty",
      "a JSON object",
      "a JSON array",
      "a JSON value that is neither object nor array",
      "XML",
      "base64",
      "plain text",
      "too large to examine",
  };
  return kWords[static_cast<std::size_t>(kind)];
}

BodyKind kind_of_text(std::string_view body) {
  body = trim(body);
  if (body.empty()) return BodyKind::empty;
  if (is_xml(body)) return BodyKind::xml;
  return is_base64(body) ? BodyKind::base64 : BodyKind::text;
}

BodyShape shape_of(std::string_view body) {
  const JsonDocument document(body);
  if (document.is_json()) return shape_of_json(document.root());
  const BodyKind kind = kind_of_text(body);
  const std::string words(describe(kind));
  return {words, kind == BodyKind::empty ? "empty body" : words};
}

}  // namespace redrive::triage
