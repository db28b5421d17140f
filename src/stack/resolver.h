#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "stack/node.h"
#include "stack/stack.h"

namespace redrive::stack {

// Evaluates CloudFormation's intrinsic functions with the given parameters, conditions and resource
// names. Names depend only on the template, so that the same template always means the same
// resources.
class Resolver {
 public:
  // Both must outlive this object.
  Resolver(const Node& root, const Surroundings& around) : root_(root), around_(around) {}

  // Checks that every parameter has a value, and every value a parameter.
  Result<void> read_parameters();
  // nullopt for AWS::NoValue: the enclosing value omits it.
  Result<std::optional<Node>> resolve(const Node& value);
  // The same, with a null node for nullopt.
  Result<Node> value(const Node& value);
  Result<bool> holds(const std::string& condition);
  // The server's name for the resource with this id.
  Result<std::string> name_of(const std::string& id);
  // The resource's properties, merged with those of Globals.
  Node properties_of(const std::string& id) const;

 private:
  using Resolved = Result<std::optional<Node>>;

  Resolved function(const std::string& name, const Node& argument);
  Result<Node> map(const Node& value);
  Result<Node> list(const Node& value);
  Result<Node> ref(const std::string& name);
  Result<Node> pseudo(const std::string& name);
  Result<Node> attribute(const std::string& id, std::string_view name);
  Result<Node> get_attribute(const Node& argument);
  Result<Node> sub(const Node& argument);
  Result<Node> join(const Node& argument);
  Result<Node> select(const Node& argument);
  Result<Node> split_text(const Node& argument);
  Result<Node> find_in_map(const Node& argument);
  Resolved choose(const Node& argument);
  Result<bool> test(const Node& condition);
  Result<bool> test_function(const std::string& name, const Node& argument);
  Result<std::string> text(const Node& value);
  const Node& resource(const std::string& id) const { return root_["Resources"][id]; }
  const std::string& type_of(const std::string& id) const { return resource(id)["Type"].scalar(); }

  const Node& root_;
  const Surroundings& around_;
  std::map<std::string, Node> parameters_;
  std::map<std::string, bool> conditions_;
  std::map<std::string, std::string> names_;
  std::set<std::string> open_;  // Names and conditions being evaluated, to detect cycles.
  std::size_t depth_ = 0;
};

}  // namespace redrive::stack
