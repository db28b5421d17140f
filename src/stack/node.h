#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace redrive::stack {

// A value of a template written in JSON, YAML or TOML. Numbers keep their text, so that 3 and "3"
// can be distinguished or not.
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

  // Text of a scalar: true, 3, words; empty for null.
  const std::string& scalar() const { return text_; }
  // A number, also if written as text.
  std::optional<std::int64_t> integer() const;
  // true or false, also if written as text.
  std::optional<bool> truth() const;

  const std::vector<Node>& items() const { return items_; }
  std::vector<Node>& items() { return items_; }
  const std::vector<Member>& members() const { return members_; }
  std::vector<Member>& members() { return members_; }

  // The member of a map; a null node if there is none or this is not a map.
  const Node& operator[](std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Node* find(std::string_view name) const;
  Node* find(std::string_view name);
  // Replaces or adds the member. A null node becomes a map.
  void set(std::string_view name, Node value);
  void remove(std::string_view name);

  // Compact JSON; members in their original order, or sorted by name.
  enum class Order : std::uint8_t { as_is, sorted };
  std::string json(Order order = Order::as_is) const;

  // Equivalence: maps regardless of order; 3, "3" and 3.0 are equal, as are true and "true".
  // Templates use one form, servers return the other.
  bool means(const Node& other) const;

 private:
  void write(std::string& out, Order order) const;

  Kind kind_ = Kind::null;
  std::string text_;
  std::vector<Node> items_;
  std::vector<Member> members_;
};

// Both refuse malformed input and more than 64 levels.
Result<Node> read_json(std::string_view text);
// Expands the short forms of CloudFormation's functions (!Ref, !Sub, …). Aliases are copied.
Result<Node> read_yaml(std::string_view text);

}  // namespace redrive::stack
