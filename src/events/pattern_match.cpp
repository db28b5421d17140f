// Puts patterns to events.
//
// Fields of an event are named by paths, in which a dot inside a name and nesting are the same. So
// "the object at a path" may be spread over several places: {"a": {"b": 1}, "a.c": 2} has an `a`
// with `b` and `c`. A Place is one of these: an object, and what its names have to begin with.
// Where an array stands, any of its elements may serve, but one element for everything that is
// asked below it.

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "events/event_document.h"
#include "events/pattern.h"

namespace redrive::events {
namespace {

using JsonElement = simdjson::dom::element;
using JsonObject = simdjson::dom::object;
using JsonArray = simdjson::dom::array;

struct Place {
  JsonObject object;
  std::string prefix;  // Ends with a dot, or is empty.
};
using Places = std::vector<Place>;

bool matches_node(const PatternNode& node, const Places& places,
                  const std::vector<JsonElement>& values);

bool fits_any(const Leaf& leaf, const Scalar& value) {
  return std::ranges::any_of(
      leaf, [&](const Alternative& alternative) { return matches(alternative, value); });
}

// Of an array, any element; what is neither a value nor an array of some is not there.
struct LeafVerdict {
  bool found = false;  // A value is there.
  bool fits = false;
};

LeafVerdict judge_leaf(const Leaf& leaf, JsonElement element) {
  if (const auto scalar = scalar_of(element)) return {true, fits_any(leaf, *scalar)};
  LeafVerdict verdict;
  JsonArray list;
  if (element.get(list) != simdjson::SUCCESS) return verdict;
  for (const JsonElement one : list) {
    const LeafVerdict inner = judge_leaf(leaf, one);
    verdict.found |= inner.found;
    if (inner.fits) return inner;
  }
  return verdict;
}

bool accepts_absence(const Leaf& leaf) {
  return std::ranges::any_of(leaf, [](const Alternative& alternative) {
    const auto* exists = std::get_if<Exists>(&alternative);
    return exists != nullptr && !exists->wanted;
  });
}

bool matches_leaf(const Leaf& leaf, const std::vector<JsonElement>& values) {
  bool found = false;
  for (const JsonElement value : values) {
    const LeafVerdict verdict = judge_leaf(leaf, value);
    if (verdict.fits) return true;
    found |= verdict.found;
  }
  return !found && accepts_absence(leaf);
}

// What lies at prefix + name, and where names go on behind it.
void descend(const Place& place, std::string_view name, Places& places,
             std::vector<JsonElement>& values) {
  const std::string wanted = place.prefix + std::string(name);
  std::optional<JsonElement> value;  // Of a name that stands twice the last counts.
  bool goes_on = false;
  for (const auto& [key, element] : place.object) {
    if (!key.starts_with(wanted)) continue;
    if (key.size() == wanted.size()) value = element;
    goes_on |= key.size() > wanted.size() && key[wanted.size()] == '.';
  }
  if (value) values.push_back(*value);
  if (goes_on) places.push_back({place.object, wanted + "."});
}

bool matches_members(const PatternNode& node, const Places& places) {
  return std::ranges::all_of(node.members, [&](const auto& member) {
    Places inner;
    std::vector<JsonElement> values;
    for (const Place& place : places) descend(place, member.first, inner, values);
    return matches_node(member.second, inner, values);
  });
}

// The objects among an array's elements, and in arrays inside it. True when one of them, together
// with the other places, has all that is asked.
bool any_element(const PatternNode& node, Places& places, JsonArray list) {
  for (const JsonElement element : list) {
    JsonArray inner;
    JsonObject object;
    if (element.get(inner) == simdjson::SUCCESS) {
      if (any_element(node, places, inner)) return true;
    } else if (element.get(object) == simdjson::SUCCESS) {
      places.push_back({object, {}});
      const bool good = matches_members(node, places);
      places.pop_back();
      if (good) return true;
    }
  }
  return false;
}

bool has_object(JsonArray list) {
  return std::ranges::any_of(list, [](JsonElement element) {
    JsonArray inner;
    if (element.get(inner) == simdjson::SUCCESS) return has_object(inner);
    return element.is_object();
  });
}

bool matches_below(const PatternNode& node, Places places, const std::vector<JsonElement>& values) {
  std::vector<JsonArray> lists;
  for (const JsonElement value : values) {
    JsonArray list;
    JsonObject object;
    if (value.get(object) == simdjson::SUCCESS) places.push_back({object, {}});
    if (value.get(list) == simdjson::SUCCESS && has_object(list)) lists.push_back(list);
  }
  if (lists.empty()) return matches_members(node, places);
  return std::ranges::any_of(lists,
                             [&](JsonArray list) { return any_element(node, places, list); });
}

bool matches_node(const PatternNode& node, const Places& places,
                  const std::vector<JsonElement>& values) {
  return std::ranges::all_of(node.leaves,
                             [&](const auto& leaf) { return matches_leaf(*leaf, values); }) &&
         (node.members.empty() || matches_below(node, places, values));
}

// A record, of which each half is looked into only when a pattern asks for it.
class RecordView {
 public:
  explicit RecordView(const Record& record) : record_(record) {}

  bool matches_way(const PatternNode& way) {
    return std::ranges::all_of(way.members, [&](const auto& member) {
      return member.first == "body" ? matches_body(member.second)
                                    : matches_other(member.first, member.second);
    });
  }

 private:
  bool matches_body(const PatternNode& node) {
    read_body();
    if (body_) return node.leaves.empty() && matches_node(node, {}, {*body_});
    return node.members.empty() && std::ranges::all_of(node.leaves, [&](const auto& leaf) {
             return fits_any(*leaf, record_.body);
           });
  }

  bool matches_other(const std::string& name, const PatternNode& node) {
    read_others();
    Places places;
    std::vector<JsonElement> values;
    descend({others_, {}}, name, places, values);
    return matches_node(node, places, values);
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

  const Record& record_;
  simdjson::dom::parser body_parser_;
  simdjson::dom::parser others_parser_;
  std::optional<JsonElement> body_;  // When it is an object or an array.
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
