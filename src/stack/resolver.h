#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stack/functions.h"
#include "stack/node.h"
#include "stack/stack.h"

namespace redrive::stack {

// Evaluates the functions of a template with the given parameters and names of resources. Names
// depend only on the template, so that the same template always means the same resources.
class Resolver {
 public:
  // Both must outlive this object.
  Resolver(const Node& root, const Surroundings& around);

  // Checks that every parameter has a value, and every value a parameter.
  Result<void> read_parameters();
  Result<Node> value(const Node& value) { return functions_.value(value); }
  Result<bool> holds(const std::string& condition) { return functions_.holds(condition); }
  // The server's name for the resource with this id.
  Result<std::string> name_of(const std::string& id);
  // The resource's properties, merged with those of Globals.
  Node properties_of(const std::string& id) const;

 private:
  Result<Node> ref(const std::string& name);
  Result<Node> pseudo(const std::string& name);
  Result<Node> attribute(const std::string& id, std::string_view name);
  const Node& resource(const std::string& id) const { return root_["Resources"][id]; }
  const std::string& type_of(const std::string& id) const { return resource(id)["Type"].scalar(); }

  const Node& root_;
  const Surroundings& around_;
  Functions functions_;
  std::map<std::string, Node> parameters_;
  std::map<std::string, std::string> names_;
  std::set<std::string> open_;  // Names being evaluated, to detect cycles.
};

}  // namespace redrive::stack
