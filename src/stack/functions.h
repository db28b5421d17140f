#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "stack/node.h"

namespace redrive::stack {

// What the functions of a template refer to. Errors are passed on.
struct References {
  // A parameter, a pseudo parameter or a resource. AWS::NoValue never arrives here.
  std::function<Result<Node>(const std::string& name)> ref;
  std::function<Result<Node>(const std::string& resource, std::string_view attribute)> attribute;
  // The value that another stack exports. Empty: there are no other stacks.
  std::function<Result<Node>(const std::string& name)> import_value = {};
  // The value of {{resolve:ssm:name}}: `service` is `ssm`, `rest` is everything behind it. Empty:
  // dynamic references stay as they are.
  std::function<Result<std::string>(std::string_view service, std::string_view rest)> dynamic = {};
  std::string region = {};
};

// Evaluates CloudFormation's intrinsic functions and conditions. Errors have CloudFormation's own
// texts.
class Functions {
 public:
  // `root` is the template, for its mappings and conditions. It must outlive this object.
  Functions(const Node& root, References references)
      : root_(root), references_(std::move(references)) {}

  // nullopt for AWS::NoValue: the enclosing value omits it.
  Result<std::optional<Node>> resolve(const Node& value);
  // The same, with a null node for nullopt.
  Result<Node> value(const Node& value);
  // A scalar.
  Result<std::string> text(const Node& value);
  Result<bool> holds(const std::string& condition);

 private:
  using Resolved = Result<std::optional<Node>>;
  using Function = Result<Node> (Functions::*)(const Node& argument);
  struct Row;

  Resolved function(const std::string& name, const Node& argument);
  Result<Node> map(const Node& value);
  Result<Node> list(const Node& value);
  Result<Node> ref(const Node& argument);
  Result<Node> get_attribute(const Node& argument);
  Result<Node> sub(const Node& argument);
  Result<std::string> substitute(const std::string& name, const Node& own);
  Result<Node> join(const Node& argument);
  Result<Node> select(const Node& argument);
  Result<Node> split_text(const Node& argument);
  Result<Node> find_in_map(const Node& argument);
  Result<Node> base64(const Node& argument);
  Result<Node> cidr(const Node& argument);
  Result<Node> length(const Node& argument);
  Result<Node> to_json(const Node& argument);
  Result<Node> import_value(const Node& argument);
  Result<Node> zones(const Node& argument);
  Resolved choose(const Node& argument);
  Result<bool> test(const Node& condition);
  Result<bool> test_function(const std::string& name, const Node& argument);
  Result<Node> with_dynamic_references(const Node& text);

  const Node& root_;
  const References references_;
  std::map<std::string, bool> conditions_;
  std::set<std::string> open_;  // Conditions being evaluated, to detect cycles.
  std::size_t depth_ = 0;
};

// {"Ref": …} or {"Fn::…": …}.
bool is_function(const Node& value);

}  // namespace redrive::stack
