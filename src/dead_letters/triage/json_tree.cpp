#include "dead_letters/triage/json_tree.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redrive::triage {
namespace {

JsonNode::Kind json_kind_of(char first) {
  switch (first) {
    case '{':
      return JsonNode::Kind::object;
    case '[':
      return JsonNode::Kind::array;
    case '"':
      return JsonNode::Kind::string;
    case 't':
    case 'f':
    case 'n':
      return JsonNode::Kind::word;
    default:
      return JsonNode::Kind::number;
  }
}

// Creating members costs more than scanning them.
constexpr std::size_t kOpenCost = 16;

using KeyedNodes = std::vector<std::pair<std::string, JsonNode*>>;

KeyedNodes sorted_by_key(std::vector<JsonMember>& members) {
  KeyedNodes out;
  out.reserve(members.size());
  for (JsonMember& member : members) out.emplace_back(unescape_json(member.key), &member.value);
  std::ranges::sort(out, {}, &KeyedNodes::value_type::first);
  return out;
}

bool same_objects(JsonNode& a, JsonNode& b, std::size_t& scanned) {
  auto left = sorted_by_key(a.open(scanned));
  auto right = sorted_by_key(b.open(scanned));
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].first != right[i].first) return false;
    if (i > 0 && left[i].first == left[i - 1].first) return false;
    if (!same_json(*left[i].second, *right[i].second, scanned)) return false;
  }
  return true;
}

bool same_arrays(JsonNode& a, JsonNode& b, std::size_t& scanned) {
  return std::ranges::equal(
      a.open(scanned), b.open(scanned), [&](JsonMember& left, JsonMember& right) {
        return same_json(left.value, right.value, scanned);
      });
}

std::string written(const JsonNode& node) {
  std::string out;
  node.write(out);
  return out;
}

}  // namespace

JsonNode::JsonNode(std::string_view text) : text_(text), kind_(json_kind_of(text.front())) {}

std::vector<JsonMember>& JsonNode::open(std::size_t& scanned) {
  assert(is_container());
  if (std::exchange(opened_, true)) return members_;
  scanned += kOpenCost * text_.size();
  const auto value = [&](std::size_t& at) {
    const std::string_view piece = text_.substr(at, extent_of_json(text_, at).bytes);
    at = skip_json_blanks(text_, at + piece.size());
    return piece;
  };
  for (std::size_t at = skip_json_blanks(text_, 1); at + 1 < text_.size();) {
    std::string key;
    if (kind_ == Kind::object) {
      key = value(at);
      at = skip_json_blanks(text_, at + 1);  // The colon.
    }
    members_.push_back({std::move(key), JsonNode(value(at))});
    if (text_[at] == ',') at = skip_json_blanks(text_, at + 1);
  }
  return members_;
}

void JsonNode::write(std::string& out) const {
  if (!opened_) {
    out += text_;
    return;
  }
  out += kind_ == Kind::object ? '{' : '[';
  for (const JsonMember& member : members_) {
    if (&member != &members_.front()) out += ',';
    if (kind_ == Kind::object) out.append(member.key).append(":");
    member.value.write(out);
  }
  out += kind_ == Kind::object ? '}' : ']';
}

JsonExtent JsonNode::extent(std::size_t& scanned) const {
  if (!opened_) {
    scanned += text_.size();
    return extent_of_json(text_, 0);
  }
  JsonExtent out{.bytes = 2 + members_.size()};
  for (const JsonMember& member : members_) {
    const JsonExtent inner = member.value.extent(scanned);
    out.bytes += member.key.size() + 1 + inner.bytes;
    out.depth = std::max(out.depth, inner.depth);
  }
  ++out.depth;
  return out;
}

bool same_json(JsonNode& a, JsonNode& b, std::size_t& scanned) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case JsonNode::Kind::object:
      return same_objects(a, b, scanned);
    case JsonNode::Kind::array:
      return same_arrays(a, b, scanned);
    case JsonNode::Kind::string:
      return unescape_json(written(a)) == unescape_json(written(b));
    case JsonNode::Kind::number:
      return same_json_number(written(a), written(b));
    case JsonNode::Kind::word:
      return written(a) == written(b);
  }
  return false;
}

}  // namespace redrive::triage
