#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace redrive::stack {

// A value of a template, whatever it was written in: JSON, YAML or TOML. Numbers stay the text they
// were written as, so that 3 and "3" can be told apart or not, as the reader likes.
class Node {
 public:
  enum class Kind : std::uint8_t { null, flag, number, text, list, map };
  using Member = std::pair<std::string, Node>;

  Node() = default;
  static Node flag(bool value);
  static Node number(std::string digits);
  static Node number(std::int64_t value) { return number(std::to_string(value)); }
  static Node text(std::string value);
  static Node list(std::vector<Node> items = {});
  static Node map(std::vector<Member> members = {});

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_text() const { return kind_ == Kind::text; }
  bool is_list() const { return kind_ == Kind::list; }
  bool is_map() const { return kind_ == Kind::map; }
  bool is_scalar() const { return !is_list() && !is_map(); }

  // Of a scalar, as people write it: true, 3, words; empty for null.
  const std::string& scalar() const { return text_; }
  // A number, also one that was written as a text.
  std::optional<std::int64_t> integer() const;
  // true or false, also when written as a text.
  std::optional<bool> truth() const;

  const std::vector<Node>& items() const { return items_; }
  std::vector<Node>& items() { return items_; }
  const std::vector<Member>& members() const { return members_; }
  std::vector<Member>& members() { return members_; }

  // The member of a map; a null node when there is none, or this is no map.
  const Node& operator[](std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Node* find(std::string_view name) const;
  Node* find(std::string_view name);
  // Replaces the member or adds it. This becomes a map if it is null.
  void set(std::string_view name, Node value);
  void remove(std::string_view name);

  // Compact JSON; members in the order they came, or sorted by name.
  enum class Order : std::uint8_t { as_is, sorted };
  std::string json(Order order = Order::as_is) const;

  // Equal as values: maps whatever their order, 3 and "3" and 3.0 alike, true and "true" alike.
  // Templates write the one, servers answer with the other.
  bool means(const Node& other) const;

 private:
  void write(std::string& out, Order order) const;

  Kind kind_ = Kind::null;
  std::string text_;
  std::vector<Node> items_;
  std::vector<Member> members_;
};

// Both refuse what is malformed or deeper than 64 levels.
Result<Node> read_json(std::string_view text);
// With the short forms of CloudFormation's functions (!Ref, !Sub, …) written out. Aliases are
// copied.
Result<Node> read_yaml(std::string_view text);

}  // namespace redrive::stack
