// Matches patterns against events.
//
// Fields of an event are named by paths, in which a dot inside a name is equivalent to nesting. So
// "the object at a path" may be spread over several places: {"a": {"b": 1}, "a.c": 2} has an `a`
// with `b` and `c`. A Place is one of these: an object, and a required prefix of its names. In an
// array any element may match, but one element must satisfy everything below it.

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "functions/events/event_document.h"
#include "functions/events/pattern.h"

namespace redrive::events {
namespace {

using JsonElement = simdjson::dom::element;
using JsonObject = simdjson::dom::object;
using JsonArray = simdjson::dom::array;

struct Place {
  JsonObject object;
  std::string prefix;  // Empty, or ends with a dot.
};
using Places = std::vector<Place>;

// Bounds the cost of matching one record. Ordinary records take one step per value and part of the
// pattern; a record built to combine arrays and dotted names would take their product.
class Budget {
 public:
  explicit Budget(std::size_t steps) : left_(steps) {}
  // Returns false if the budget is exhausted; nothing matches any more.
  bool spend() {
    if (left_ > 0) --left_;
    return left_ > 0;
  }
  bool is_left() const { return left_ > 0; }

 private:
  std::size_t left_;
};

bool matches_node(const PatternNode& node, const Places& places,
                  const std::vector<JsonElement>& values, Budget& budget);

bool fits_any(const Leaf& leaf, const Scalar& value) {
  return std::ranges::any_of(
      leaf, [&](const Alternative& alternative) { return matches(alternative, value); });
}

// For an array, any element; an object counts as absent.
struct LeafVerdict {
  bool found = false;  // A value exists.
  bool fits = false;
};

LeafVerdict judge_leaf(const Leaf& leaf, JsonElement element, Budget& budget) {
  if (!budget.spend()) return {};
  if (const auto scalar = scalar_of(element)) return {true, fits_any(leaf, *scalar)};
  LeafVerdict verdict;
  JsonArray list;
  if (element.get(list) != simdjson::SUCCESS) return verdict;
  for (const JsonElement one : list) {
    const LeafVerdict inner = judge_leaf(leaf, one, budget);
    verdict.found |= inner.found;
    if (inner.fits) return inner;
    if (!budget.is_left()) break;
  }
  return verdict;
}

bool accepts_absence(const Leaf& leaf) {
  return std::ranges::any_of(leaf, [](const Alternative& alternative) {
    const auto* exists = std::get_if<Exists>(&alternative);
    return exists != nullptr && !exists->wanted;
  });
}

bool matches_leaf(const Leaf& leaf, const std::vector<JsonElement>& values, Budget& budget) {
  bool found = false;
  for (const JsonElement value : values) {
    const LeafVerdict verdict = judge_leaf(leaf, value, budget);
    if (verdict.fits) return true;
    found |= verdict.found;
  }
  return !found && accepts_absence(leaf);
}

// Finds the value at prefix + name, and objects whose names continue after it.
void descend(const Place& place, std::string_view name, Places& places,
             std::vector<JsonElement>& values, Budget& budget) {
  const std::string wanted = place.prefix + std::string(name);
  std::optional<JsonElement> value;  // If a name occurs twice, the last one counts.
  bool goes_on = false;
  for (const auto& [key, element] : place.object) {
    if (!budget.spend()) return;
    if (!key.starts_with(wanted)) continue;
    if (key.size() == wanted.size()) value = element;
    goes_on |= key.size() > wanted.size() && key[wanted.size()] == '.';
  }
  if (value) values.push_back(*value);
  if (goes_on) places.push_back({place.object, wanted + "."});
}

bool matches_members(const PatternNode& node, const Places& places, Budget& budget) {
  return std::ranges::all_of(node.members, [&](const auto& member) {
    Places inner;
    std::vector<JsonElement> values;
    for (const Place& place : places) descend(place, member.first, inner, values, budget);
    return budget.is_left() && matches_node(member.second, inner, values, budget);
  });
}

// Tries the objects among an array's elements, including nested arrays. Returns true if one of
// them, together with the other places, satisfies the node.
bool any_element(const PatternNode& node, Places& places, JsonArray list, Budget& budget) {
  for (const JsonElement element : list) {
    if (!budget.spend()) return false;
    JsonArray inner;
    JsonObject object;
    if (element.get(inner) == simdjson::SUCCESS) {
      if (any_element(node, places, inner, budget)) return true;
    } else if (element.get(object) == simdjson::SUCCESS) {
      places.push_back({object, {}});
      const bool good = matches_members(node, places, budget);
      places.pop_back();
      if (good) return true;
    }
  }
  return false;
}

bool has_object(JsonArray list, Budget& budget) {
  return std::ranges::any_of(list, [&](JsonElement element) {
    JsonArray inner;
    if (!budget.spend()) return true;
    if (element.get(inner) == simdjson::SUCCESS) return has_object(inner, budget);
    return element.is_object();
  });
}

bool matches_below(const PatternNode& node, Places places, const std::vector<JsonElement>& values,
                   Budget& budget) {
  std::vector<JsonArray> lists;
  for (const JsonElement value : values) {
    JsonArray list;
    JsonObject object;
    if (value.get(object) == simdjson::SUCCESS) places.push_back({object, {}});
    if (value.get(list) == simdjson::SUCCESS && has_object(list, budget)) lists.push_back(list);
  }
  if (lists.empty()) return matches_members(node, places, budget);
  return std::ranges::any_of(
      lists, [&](JsonArray list) { return any_element(node, places, list, budget); });
}

bool matches_node(const PatternNode& node, const Places& places,
                  const std::vector<JsonElement>& values, Budget& budget) {
  return std::ranges::all_of(
             node.leaves, [&](const auto& leaf) { return matches_leaf(*leaf, values, budget); }) &&
         (node.members.empty() || matches_below(node, places, values, budget));
}

std::size_t parts_of(const PatternNode& node) {
  std::size_t parts = 1 + node.leaves.size();
  for (const auto& member : node.members) parts += parts_of(member.second);
  return parts;
}

// A record; each half is parsed only if a pattern needs it.
class RecordView {
 public:
  explicit RecordView(const Record& record) : record_(record) {}

  bool matches_way(const PatternNode& way) {
    budget_ = Budget((kSteps + record_.body.size()) * parts_of(way));
    const bool fits = std::ranges::all_of(way.members, [&](const auto& member) {
      return member.first == "body" ? matches_body(member.second)
                                    : matches_other(member.first, member.second);
    });
    return fits && budget_.is_left();
  }

 private:
  bool matches_body(const PatternNode& node) {
    read_body();
    if (body_) return node.leaves.empty() && matches_node(node, {}, {*body_}, budget_);
    return node.members.empty() && std::ranges::all_of(node.leaves, [&](const auto& leaf) {
             return fits_any(*leaf, record_.body);
           });
  }

  bool matches_other(const std::string& name, const PatternNode& node) {
    read_others();
    Places places;
    std::vector<JsonElement> values;
    descend({others_, {}}, name, places, values, budget_);
    return matches_node(node, places, values, budget_);
  }

  void read_body() {
    if (std::exchange(body_read_, true)) return;
    JsonElement parsed;
    if (body_parser_.parse(record_.body.data(), record_.body.size()).get(parsed) !=
        simdjson::SUCCESS) {
      return;
    }
    if (parsed.is_object() || parsed.is_array()) body_ = parsed;
  }

  void read_others() {
    if (std::exchange(others_read_, true)) return;
    const std::string text = filterable_record(record_);
    [[maybe_unused]] const auto error = others_parser_.parse(text).get(others_);
    assert(error == simdjson::SUCCESS);  // Written by ourselves.
  }

  // For the part of a record besides its body: attributes, at most as large as ten messages.
  static constexpr std::size_t kSteps = 100'000;

  const Record& record_;
  Budget budget_{0};
  simdjson::dom::parser body_parser_;
  simdjson::dom::parser others_parser_;
  std::optional<JsonElement> body_;  // Set if it is an object or an array.
  JsonObject others_;
  bool body_read_ = false;
  bool others_read_ = false;
};

}  // namespace

bool Pattern::matches(const Record& record) const {
  RecordView view(record);
  return std::ranges::any_of(ways_, [&](const PatternNode& way) { return view.matches_way(way); });
}

}  // namespace redrive::events
