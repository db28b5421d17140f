#include "stack/node.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace redrive::stack {
namespace {

const Node kNull;

void write_text(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.append("\\").push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out.append("\\u00").append(1, kHex[c >> 4]).append(1, kHex[c & 15]);
    } else {
      out += c;
    }
  }
  out += '"';
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool same_scalar(const Node& a, const Node& b) {
  if (a.scalar() == b.scalar()) return true;
  const auto left = number_of(a.scalar());
  return left && left == number_of(b.scalar());
}

bool same_members(const Node& a, const Node& b) {
  return a.members().size() == b.members().size() &&
         std::ranges::all_of(a.members(), [&](const Node::Member& member) {
           const Node* const other = b.find(member.first);
           return other != nullptr && member.second.means(*other);
         });
}

}  // namespace

Node Node::flag(bool value) {
  Node node;
  node.kind_ = Kind::flag;
  node.text_ = value ? "true" : "false";
  return node;
}

Node Node::number(std::string digits) {
  Node node;
  node.kind_ = Kind::number;
  node.text_ = std::move(digits);
  return node;
}

Node Node::text(std::string value) {
  Node node;
  node.kind_ = Kind::text;
  node.text_ = std::move(value);
  return node;
}

Node Node::list(std::vector<Node> items) {
  Node node;
  node.kind_ = Kind::list;
  node.items_ = std::move(items);
  return node;
}

Node Node::map(std::vector<Member> members) {
  Node node;
  node.kind_ = Kind::map;
  node.members_ = std::move(members);
  return node;
}

std::optional<std::int64_t> Node::integer() const {
  if (kind_ != Kind::number && kind_ != Kind::text) return std::nullopt;
  return parse_int<std::int64_t>(text_);
}

std::optional<bool> Node::truth() const {
  if (kind_ != Kind::flag && kind_ != Kind::text) return std::nullopt;
  if (text_ == "true") return true;
  if (text_ == "false") return false;
  return std::nullopt;
}

const Node* Node::find(std::string_view name) const {
  const auto found = std::ranges::find(members_, name, &Member::first);
  return found == members_.end() ? nullptr : &found->second;
}

Node* Node::find(std::string_view name) {
  const auto found = std::ranges::find(members_, name, &Member::first);
  return found == members_.end() ? nullptr : &found->second;
}

const Node& Node::operator[](std::string_view name) const {
  const Node* const found = find(name);
  return found == nullptr ? kNull : *found;
}

void Node::set(std::string_view name, Node value) {
  if (kind_ == Kind::null) kind_ = Kind::map;
  if (Node* const found = find(name)) {
    *found = std::move(value);
  } else {
    members_.emplace_back(name, std::move(value));
  }
}

void Node::remove(std::string_view name) {
  std::erase_if(members_, [&](const Member& member) { return member.first == name; });
}

std::string Node::json(Order order) const {
  std::string out;
  write(out, order);
  return out;
}

void Node::write(std::string& out, Order order) const {
  if (kind_ == Kind::null) out += "null";
  if (kind_ == Kind::flag || kind_ == Kind::number) out += text_;
  if (kind_ == Kind::text) write_text(out, text_);
  if (kind_ == Kind::list) {
    out += '[';
    for (const Node& item : items_) {
      if (&item != items_.data()) out += ',';
      item.write(out, order);
    }
    out += ']';
  }
  if (kind_ == Kind::map) {
    std::vector<const Member*> sequence;
    for (const Member& member : members_) sequence.push_back(&member);
    if (order == Order::sorted) std::ranges::sort(sequence, {}, &Member::first);
    out += '{';
    for (std::string_view separator; const Member* member : sequence) {
      out += separator;
      write_text(out, member->first);
      out += ':';
      member->second.write(out, order);
      separator = ",";
    }
    out += '}';
  }
}

bool Node::means(const Node& other) const {
  if (is_map() && other.is_map()) return same_members(*this, other);
  if (is_list() && other.is_list()) {
    return std::ranges::equal(
        items_, other.items_, [](const Node& a, const Node& b) { return a.means(b); });
  }
  return is_scalar() && other.is_scalar() && is_null() == other.is_null() &&
         same_scalar(*this, other);
}

}  // namespace redrive::stack
